// The pages in English, compared with their kept pictures.

import { looksAsItDid } from './looks-walk';

looksAsItDid('en');
