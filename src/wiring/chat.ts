import { MINUTE_MS } from '../core/clock.ts'
import { RESPONSE_ITEMS_BYTES_MAX, RESPONSE_ITEMS_MAX } from '../core/limits/machine.ts'
import { createClaudeModels } from '../doors/anthropic/models.ts'
import { createPdfReader } from '../doors/anthropic/pdfs.ts'
import type { MessageRouteOptions } from '../doors/anthropic/routes.ts'
import { createItemStore } from '../doors/openai/item-store.ts'
import { createKeptItems } from '../doors/openai/kept-items.ts'
import type { ResponseRouteOptions } from '../doors/openai/response-routes.ts'
import { createAssistants } from '../doors/shared/assistants.ts'
import type { Agent } from '../features/agent/service.ts'
import type { Apps } from '../features/apps/service.ts'
import type { JsonAnswers } from '../http/json-answers.ts'
import type { RequestContexts } from '../http/observe.ts'
import type { Origins } from '../http/origin.ts'
import type { Sse } from '../http/sse.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'
import type { OpenedFiles } from './files.ts'
import type { OpenedSources } from './sources.ts'

const ITEM_LIMITS = { items: RESPONSE_ITEMS_MAX, bytes: RESPONSE_ITEMS_BYTES_MAX }

interface ChatNeeds {
  readonly apps: Apps
  readonly agent: Agent
  readonly files: OpenedFiles
  readonly sources: OpenedSources
  readonly answers: JsonAnswers
  readonly sse: Sse
  readonly contexts: RequestContexts
  readonly origins: Origins
  readonly jobs: Pick<Jobs, 'every'>
}

/** Wires the doors of chat. */
export function openChat(
  adapters: Adapters,
  needs: ChatNeeds,
): MessageRouteOptions & ResponseRouteOptions {
  const { config, clock, log, db, parser } = adapters
  const store = createItemStore(db, ITEM_LIMITS)
  const keptItems = createKeptItems({ store, clock, log, hours: config.MB_RESPONSE_HOURS })
  needs.jobs.every('trim kept items', MINUTE_MS, keptItems.trim)
  const assistants = createAssistants(needs.apps)
  return {
    agent: needs.agent,
    files: needs.files.service,
    sources: needs.sources.service,
    answers: needs.answers,
    sse: needs.sse,
    contexts: needs.contexts,
    origins: needs.origins,
    clock,
    assistants,
    claudeModels: createClaudeModels(assistants),
    readPdfs: createPdfReader({ parser, bytesMax: needs.sources.service.fileBytesMax }),
    limits: { messages: config.MB_CHAT_MESSAGES_MAX, chars: config.MB_CHAT_CHARS_MAX },
    keptItems,
  }
}
