// Texts around the pages: the bar of a phone, addresses that lead nowhere, the palette, shortcuts, leaving.

export const around = {
  more: 'More',
  notFound: {
    title: 'There is no such page',
    text: 'The address may be mistyped or out of date:',
    back: 'Go to Chat',
  },
  leave: {
    title: 'Leave without saving?',
    text: 'What you changed here is not saved yet and will be lost.',
    action: 'Leave',
  },
  palette: {
    title: 'Go to or do',
    placeholder: 'Search pages, chats, agents, apps, actions and settings',
    none: (query: string) => `Nothing found for “${query}”.`,
    groups: { pages: 'Pages', chats: 'Chats', agents: 'Agents', apps: 'Apps', actions: 'Actions', settings: 'Settings' },
    newChat: 'New chat',
    openInbox: 'Show what waits for me',
    shortcuts: 'Show keyboard shortcuts',
    theme: (name: string) => `Theme: ${name}`,
    language: (name: string) => `Language: ${name}`,
  },
  shortcuts: {
    title: 'Keyboard shortcuts',
    anywhere: 'Anywhere',
    goTo: 'Go to a page',
    inChat: 'In a chat',
    palette: 'Find anything and go there',
    help: 'This list',
    hub: 'What waits for you',
    then: 'then',
    send: 'Send',
    newLine: 'New line',
    stop: 'Stop the answer',
    list: 'Move in the list of chats',
  },
};
