// Signs in with nothing but the connection Secret of a DatabaseUser, runs one query, and prints the answer.
//
// The Secret is mounted as the Service Binding specification has it: a folder for each binding below
// $SERVICE_BINDING_ROOT, a file for each key. $DATABASE, $TRANSACTION (read, write or schema) and $QUERY say what to run.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const { SERVICE_BINDING_ROOT = '/bindings', DATABASE = 'orders', TRANSACTION = 'read', QUERY = '' } = process.env;

/** The values of a binding that is a database; a key that is not there is undefined. */
function readBinding() {
  for (const name of readdirSync(SERVICE_BINDING_ROOT)) {
    const value = (key) => {
      try {
        return readFileSync(join(SERVICE_BINDING_ROOT, name, key), 'utf8');
      } catch {
        return undefined;
      }
    };
    if (value('type') === 'database') return value;
  }
  throw new Error(`There is no binding of type database below ${SERVICE_BINDING_ROOT}`);
}

async function post(url, body, token) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text };
}

/** With the password; while it is being replaced, the coming one may be the one that works. */
async function signIn(binding) {
  for (const key of ['password', 'nextPassword']) {
    const password = binding(key);
    if (password === undefined) continue;
    const { status, text } = await post(`${binding('uri')}/v1/signin`, { username: binding('username'), password });
    if (status === 200) return JSON.parse(text).token;
    if (status !== 401) throw new Error(`The server answers ${status} to a sign-in: ${text}`);
  }
  throw new Error('The server refuses the passwords: read the Secret again, it has new ones');
}

const binding = readBinding();
const token = await signIn(binding);
const { status, text } = await post(
  `${binding('uri')}/v1/query`,
  { databaseName: DATABASE, transactionType: TRANSACTION, query: QUERY, commit: TRANSACTION !== 'read' },
  token,
);
if (status >= 300) throw new Error(`The server answers ${status} to the query: ${text}`);
for (const answer of JSON.parse(text).answers ?? []) console.log(JSON.stringify(answer));
