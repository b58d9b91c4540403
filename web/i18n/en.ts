import type { Dictionary } from './dictionary.ts'
import { enChat } from './en-chat.ts'
import { enPages } from './en-pages.ts'

export const en: Dictionary = { ...enChat, ...enPages }
