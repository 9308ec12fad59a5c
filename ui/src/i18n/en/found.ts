// English texts about coding agents of other makers that were found on this machine.

export const found = {
  intro: 'Or chat with an agent you already have:',
  label: (name: string) => `${name} (found)`,
  add: 'Add',
  confirmTitle: (name: string) => `Add ${name}?`,
  confirmText: (command: string, folder: string) => `ChatOS will start “${command}” as you, with your login, in ${folder}. It reads and changes files and runs commands on its own; ChatOS shows what it reports, and passes on what it asks you.`,
  confirmed: (name: string) => `${name} added`,
  chosen: (name: string) => `${name} added. Write to it below.`,
};
