// The command lines of the control plane's processes. All data is in one folder of mode 0700.
import { join } from 'node:path';

/**
 * etcd listens on a socket in the folder, not on a port: no other process can take the port, and no other user of the
 * machine can bypass the API server. The advertised address has to look like a port but is not used.
 */
export function etcdArguments(directory: string, progressFlag: string): string[] {
  return [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=unix://${etcdSocket(directory)}`,
    `--listen-peer-urls=unix://${join(directory, 'etcd-peer.sock')}`,
    '--advertise-client-urls=http://localhost:2379',
    '--unsafe-no-fsync', // The data is thrown away.
    `${progressFlag}=5s`, // // Otherwise the API server's bookmarks lag by minutes on quiet kinds.
    '--log-level=warn',
  ];
}

export function etcdSocket(directory: string): string {
  return join(directory, 'etcd.sock');
}

/** The flag was renamed in etcd 3.6, and 3.7 drops the old name. `help` is the text of `etcd --help`. */
export function etcdProgressFlag(help: string): string {
  const name = 'watch-progress-notify-interval';
  return help.includes(` --${name} `) ? `--${name}` : `--experimental-${name}`;
}

/** The key that signs and checks service account tokens. */
export function signingKeyFile(directory: string): string {
  return join(directory, 'service-accounts.key');
}

export function tokenFile(directory: string): string {
  return join(directory, 'tokens.csv');
}

/** Written by the API server at its first start: its own certificate, and that of the authority it made for it. */
export function servingCertificateFile(directory: string): string {
  return join(directory, 'certificates', 'apiserver.crt');
}

export function apiServerArguments(directory: string, port: number): string[] {
  return [
    `--etcd-servers=unix://${etcdSocket(directory)}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(directory, 'certificates')}`,
    `--token-auth-file=${tokenFile(directory)}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${signingKeyFile(directory)}`,
    `--service-account-signing-key-file=${signingKeyFile(directory)}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--endpoint-reconciler-type=none', // // A loopback address is not a valid endpoint of the service "kubernetes".
    '--profiling=false',
  ];
}

/** One audit.k8s.io/v1 Event per line, each written before the request is answered. */
export function auditFile(directory: string): string {
  return join(directory, 'audit.log');
}

export function auditPolicyFile(directory: string): string {
  return join(directory, 'audit-policy.json');
}

/** Records, for service accounts only, who requested what, and the status code of the answer. */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};

export function auditArguments(directory: string): string[] {
  return [
    `--audit-policy-file=${auditPolicyFile(directory)}`,
    `--audit-log-path=${auditFile(directory)}`,
    '--audit-log-mode=blocking',
  ];
}

/** Controllers that work without a kubelet: enough to delete namespaces and owned objects, and to roll out charts. */
const CONTROLLERS = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'deployment-controller',
  'replicaset-controller',
];

export function controllerManagerArguments(directory: string, kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${CONTROLLERS.join(',')}`,
    `--service-account-private-key-file=${signingKeyFile(directory)}`,
    `--root-ca-file=${servingCertificateFile(directory)}`,
    '--leader-elect=false',
    '--secure-port=0', // // It serves nothing that is needed, so it needs no port.
    '--profiling=false',
  ];
}
