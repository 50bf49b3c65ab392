import { builtTool, type GoToolOptions } from '../../../tools/go-tool.ts';

/** Flux's controllers that apply manifests and charts. */
export const CONTROLLERS = ['source-controller', 'kustomize-controller', 'helm-controller'] as const;

export type ControllerName = (typeof CONTROLLERS)[number];

/** Path of the pinned controller, built with Go into the user's cache unless it is already there. */
export function builtController(name: ControllerName, options: GoToolOptions = {}): Promise<string> {
  const module = `github.com/fluxcd/${name}`;
  return builtTool({ name, folder: import.meta.dirname, package: module, module, about: '5 min' }, options);
}
