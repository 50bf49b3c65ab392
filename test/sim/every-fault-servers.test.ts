import { BY_PLACE } from './every.ts';
import { describeEveryFault } from './every-fault.ts';
import { DATABASES_OF_SERVERS } from './scenarios/databases.ts';
import { USERS_OF_SERVERS } from './scenarios/users.ts';

// What comes from around is played by the seeds: a server's sign-ins make these many.
describeEveryFault([...USERS_OF_SERVERS, ...DATABASES_OF_SERVERS], BY_PLACE);
