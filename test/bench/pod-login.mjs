// Loaded before the operator. In a pod it finds its login in a folder that only a kubelet can fill; here that is
// the folder that MOORING_BENCH_LOGIN names. And it ends when the benchmark does. Nothing else is different from a pod.
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
