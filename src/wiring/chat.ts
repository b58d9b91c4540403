import { RESPONSE_ITEMS_BYTES_MAX, RESPONSE_ITEMS_MAX } from '../core/limits/machine.ts'
import { createClaudeModels } from '../doors/anthropic/models.ts'
import { createPdfReader } from '../doors/anthropic/pdfs.ts'
import { createItemStore } from '../doors/openai/item-store.ts'
import { createKeptItems } from '../doors/openai/kept-items.ts'
import { createAssistants } from '../doors/shared/assistants.ts'
import type { Apps } from '../features/apps/service.ts'
import type { Adapters } from './adapters.ts'

const ITEM_LIMITS = { items: RESPONSE_ITEMS_MAX, bytes: RESPONSE_ITEMS_BYTES_MAX }

/** Wires the doors of chat. */
export function openChat({ config, clock, log, db, parser }: Adapters, apps: Pick<Apps, 'names'>) {
  const store = createItemStore(db, ITEM_LIMITS)
  const assistants = createAssistants(apps)
  return {
    assistants,
    claudeModels: createClaudeModels(assistants),
    readPdfs: createPdfReader(parser),
    limits: { messages: config.MB_CHAT_MESSAGES_MAX, chars: config.MB_CHAT_CHARS_MAX },
    keptItems: createKeptItems({ store, clock, log, hours: config.MB_RESPONSE_HOURS }),
  }
}
