import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Agent } from '../features/agent/service.ts'
import type { VoiceRouteOptions } from '../features/voice/routes.ts'
import { createVoice } from '../features/voice/service.ts'
import { createVoiceLoop } from '../features/voice/voice-turn.ts'
import type { LoggedRequest, RequestContexts } from '../http/observe.ts'
import type { Speech } from './speech.ts'

export interface VoiceParts {
  readonly speech: Speech
  readonly agent: Agent
  readonly clock: Clock
  readonly log: Logger
  readonly contexts: RequestContexts
  readonly record: (request: LoggedRequest) => void
}

/** Composes the services behind the voice routes. */
export function composeVoice(parts: VoiceParts): VoiceRouteOptions {
  const { speech, agent, clock, log, contexts, record } = parts
  const voice = createVoice({ ...speech, log })
  return {
    voice,
    loop: createVoiceLoop({ voice, agent, clock }),
    contexts,
    onStage(request, stage) {
      const known = contexts.of(request)
      // Only requests with a valid key are logged.
      if (known?.principal?.keyId && stage.status !== 401) record({ ...known, ...stage })
    },
  }
}
