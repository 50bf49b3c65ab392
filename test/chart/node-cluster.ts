import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { runKubectl } from '../../tools/control-plane/kubeconfig.ts';
import { run } from '../../tools/control-plane/run.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { startNode, type TestNode } from './node.ts';

/** A control plane of its own with a stand-in for a node, for what a cluster can have only once. */
export interface NodeCluster {
  /** For files of the test; removed at the end. */
  readonly folder: string;
  readonly controlPlane: ControlPlane;
  readonly node: TestNode;
  /** Runs a command that must succeed. Resolves to its output. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Applies manifests, which must succeed. They are on no command line, as there may be Secrets among them. */
  apply(text: string, ...args: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** `name`: begins the folder's name. `audit`: whether the API server writes an audit log. */
export async function startNodeCluster(name: string, { audit = false } = {}): Promise<NodeCluster> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const controlPlane = await startControlPlane({
    controllerManager: true,
    audit,
    log: (line) => console.log(line),
  });
  mkdirSync(join(folder, 'node'));
  const node = await startNode(controlPlane, join(folder, 'node'));
  return {
    folder,
    controlPlane,
    node,
    kubectl: (...args) => runKubectl(controlPlane, args),
    apply: async (text, ...args) => {
      const command = [`--kubeconfig=${controlPlane.kubeconfig}`, 'apply', '--filename=-', ...args];
      const { code, stderr } = await run(controlPlane.kubectl, command, { input: text });
      if (code !== 0) throw new Error(`kubectl apply failed: ${stderr}`);
    },
    stop: async () => {
      try {
        await node.stop();
      } finally {
        await controlPlane.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
