// Texts around the pages: the bar of a phone, addresses that lead nowhere, the palette, leaving.

export const around = {
  more: 'More',
  notFound: {
    title: 'Page not found',
    text: 'The address may be mistyped or outdated:',
    back: 'Go to Chat',
  },
  leave: {
    title: 'Leave without saving?',
    text: 'Your changes here haven’t been saved and will be lost.',
    action: 'Leave',
    appTitle: (app: string) => `${app} wants to leave this page`,
    appText: 'What you entered here isn’t saved.',
  },
  palette: {
    title: 'Go to or run',
    placeholder: 'Search pages, chats, agents, apps, actions and settings',
    none: (query: string) => `No results for “${query}”`,
    groups: { pages: 'Pages', chats: 'Chats', agents: 'Agents', apps: 'Apps', actions: 'Actions', settings: 'Settings' },
    newChat: 'New chat',
    openInbox: 'Open inbox',
    shortcuts: 'Show keyboard shortcuts',
    theme: (name: string) => `Theme: ${name}`,
    language: (name: string) => `Language: ${name}`,
  },
};
