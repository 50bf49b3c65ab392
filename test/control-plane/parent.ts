// A program that starts a control plane and says so, to test what is left when such a program ends.
import { startControlPlane } from '../../tools/control-plane/start.ts';

const controlPlane = await startControlPlane();
console.log(JSON.stringify({ directory: controlPlane.directory, pids: controlPlane.pids() }));
if (process.argv[2] === 'throw') throw new Error('a crash');
