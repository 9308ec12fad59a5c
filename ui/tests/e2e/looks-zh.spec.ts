// The pages in Chinese, compared with their kept pictures.

import { looksAsItDid } from './looks-walk';

looksAsItDid('zh');
