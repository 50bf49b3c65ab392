import { builtTool, type GoToolOptions } from '../../../tools/go-tool.ts';

/** Flux's controllers that apply manifests and charts, and how long each takes to build after the one before it. */
const ABOUT = { 'source-controller': '5 min', 'kustomize-controller': '1 min', 'helm-controller': '20 s' } as const;

export type ControllerName = keyof typeof ABOUT;

export const CONTROLLERS = Object.keys(ABOUT) as readonly ControllerName[];

/** Path of the pinned controller, built with Go into the user's cache unless it is already there. */
export function builtController(name: ControllerName, options: GoToolOptions = {}): Promise<string> {
  const module = `github.com/fluxcd/${name}`;
  const tool = { name, folder: import.meta.dirname, package: module, module, about: ABOUT[name] };
  return builtTool(tool, options);
}
