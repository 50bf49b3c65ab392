/** The part of Eleventy that the site uses; the package has no types. */
declare module '@11ty/eleventy' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

  export interface Configuration {
    /** Files and folders of the input that are not pages. */
    readonly ignores: Set<string>;
    setTemplateFormats(names: readonly string[]): void;
    /** Sets how files with this extension become HTML, without a template language in between. */
    addExtension(ending: string, engine: Engine): void;
    addGlobalData(name: string, value: unknown): void;
    /** Adds a page without a file; its path is relative to the input. */
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
    /** No configuration file: everything comes from `config`. */
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
