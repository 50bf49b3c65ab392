import { ServerClient, type ServerClientOptions } from '../../src/database/client.ts';
import type { RequestRecord } from '../../src/http/api-call.ts';
import { manualClock, noChance } from './clock.ts';
import { type Script, scriptedTransport } from './http.ts';

/** A client of a scripted server. */
export function aServerClient(script: Script, changes: Partial<ServerClientOptions> = {}) {
  const transport = scriptedTransport(script);
  const records: RequestRecord[] = [];
  const client = new ServerClient({
    baseURL: 'https://server.example.com:8443',
    transport,
    clock: manualClock(),
    random: noChance,
    onRequest: (record) => records.push(record),
    ...changes,
  });
  return { client, records, requests: transport.requests, transport };
}
