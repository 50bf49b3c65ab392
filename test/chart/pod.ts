/** The parts of a core/v1 Pod that the chart's pods need. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName: string;
    readonly restartPolicy: 'Always' | 'Never';
    readonly terminationGracePeriodSeconds: number;
    readonly securityContext?: SecurityContext;
    readonly containers: readonly Container[];
    readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext?: SecurityContext;
}

interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly readOnlyRootFilesystem?: boolean;
}
