/** The part of Eleventy that the site uses; the package has no types of its own. */
declare module '@11ty/eleventy' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

  export interface Configuration {
    /** Files and folders of the input that are no pages. */
    readonly ignores: Set<string>;
    setTemplateFormats(names: readonly string[]): void;
    /** How files of this ending become HTML, with no template language in between. */
    addExtension(ending: string, engine: Engine): void;
    addGlobalData(name: string, value: unknown): void;
    /** A page without a file; its path is relative to the input. */
    addTemplate(path: string, content: string, data: Readonly<Record<string, unknown>>): void;
    setServerOptions(options: { readonly middleware: readonly Middleware[] }): void;
    on(event: 'eleventy.before' | 'eleventy.after', act: () => void | Promise<void>): void;
  }

  export interface Engine {
    readonly outputFileExtension: 'html';
    /** @param inputPath Relative to the input, with `./` before it. */
    compile(text: string, inputPath: string): () => string;
  }

  export interface Options {
    /** No file with a configuration: all of it comes from `config`. */
    readonly configPath: null;
    readonly quietMode: boolean;
    readonly runMode: 'build' | 'serve';
    config(configuration: Configuration): void;
  }

  export class Eleventy {
    constructor(input: string, output: string, options: Options);
    init(): Promise<void>;
    write(): Promise<void>;
    watch(): Promise<void>;
    serve(port?: number): Promise<void>;
  }
}
