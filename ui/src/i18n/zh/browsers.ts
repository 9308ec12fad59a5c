// 设置 › 浏览器的文字。

import type { browsers as en } from '../en/browsers';

export const browsers: typeof en = {
  intro: '以下浏览器已登录：所有标签页通用，ChatOS 重启后依然有效。30 天未使用则需重新登录。',
  empty: '没有已登录的浏览器。当前标签页单独登录。',
  perTab: '浏览器无法为此地址保存密钥，因此只登录当前标签页。',
  add: '要登录另一个浏览器，请在终端运行以下命令，然后在那个浏览器中打开链接：',
  unnamed: '未命名的浏览器',
  current: '当前浏览器',
  lastSeen: '最近使用',
  signedIn: '登录时间',
  expires: (date) => `有效至 ${date}`,
  from: (address) => `来自 ${address}`,
  signOut: '退出登录',
  signOutOf: (name) => `让 ${name} 退出登录`,
  signOutTitle: (name) => `让 ${name} 退出登录？`,
  signOutText: '该浏览器中打开的页面会保持原样，并要求重新登录；已写的内容不会丢失。',
  ownText: '这是你正在使用的浏览器。重新登录需要用 `chatos open` 获取新链接。',
  everywhere: '全部退出登录',
  everywhereTitle: '让所有浏览器退出登录？',
  everywhereText: '所有浏览器（包括当前浏览器）都需要用 `chatos open` 获取新链接重新登录。',
  done: (name) => `${name} 已退出登录`,
  reused: (name) => `${name ? `“${name}”` : '一个浏览器'}已退出登录：有人使用了它的旧登录信息`,
  reusedHint: '恢复或复制浏览器配置文件时会出现这种情况。如果你没有这样做，请查看“设置 › 浏览器”。',
};
