import { describeEveryFault } from './every-fault.ts';
import { DATABASES_OF_SERVERS } from './scenarios/databases.ts';
import { USERS_OF_SERVERS } from './scenarios/users.ts';

describeEveryFault([...USERS_OF_SERVERS, ...DATABASES_OF_SERVERS]);
