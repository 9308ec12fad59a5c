// What Settings asks the host about a person's own commands; loaded with that tab.

import { CommandsApi } from '../api/commands';
import { http } from './index';

export const commandsApi = new CommandsApi(http);
