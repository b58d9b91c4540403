import { zhChat } from './zh-chat.ts'
import { zhPages } from './zh-pages.ts'

/** The Chinese texts of the console; every other language has the same keys. */
export const zh = { ...zhChat, ...zhPages }
