// Loaded before the operator. In a pod it finds its login in a folder that only a kubelet can fill; here the folder is the
// one in MOORING_BENCH_LOGIN. It also ends with the benchmark. Nothing else differs from a pod.
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import process, { env } from 'node:process';

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
const { readFile } = fs;
fs.readFile = (path, ...options) =>
  readFile(typeof path === 'string' ? path.replace(FOLDER, env.MOORING_BENCH_LOGIN ?? FOLDER) : path, ...options);
syncBuiltinESMExports();

// Not by tools/bootstrap.mjs, whose modules no pod loads.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
