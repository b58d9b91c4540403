import { AppError } from '../../core/errors.ts'
import type { AgentEvent, TurnStats } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { JsonAnswer } from '../../http/json-answers.ts'
import type { StreamFormat } from '../../http/sse.ts'
import type { Telling } from './endpoint.ts'
import { toldOf } from './extension.ts'
import { failureOf } from './failure.ts'

/** The frames of a turn in an API that has a frame for each thing that happens. */
export abstract class TurnFrames implements Telling {
  abstract readonly opening: string
  protected stats: TurnStats | null = null
  #isOver = false

  protected abstract textFrame(text: string): string
  protected abstract thinkingFrame(text: string): string
  /** What only clients of this server know. */
  protected abstract extensionFrame(moonbase: object): string
  protected abstract errorFrame(error: AppError): string
  protected abstract lastFrames(answer: ModelAnswer): string
  abstract whole(answer: ModelAnswer, events: readonly AgentEvent[]): JsonAnswer

  /** How they are streamed. */
  protected streamed(signs: NonNullable<StreamFormat<string>['signs']>) {
    return {
      frame: (text: string) => text,
      isLast: () => this.#isOver,
      onStop: () => this.#ended(new AppError('server_stopping', {})),
      signs,
    }
  }

  of(events: readonly AgentEvent[]): string[] {
    let frames = ''
    for (const event of events) frames += this.#frameOf(event)
    return frames === '' ? [] : [frames]
  }

  ending(answer: ModelAnswer): string[] {
    this.#isOver = true
    return [this.lastFrames(answer)]
  }

  #ended(error: AppError): string {
    this.#isOver = true
    return this.errorFrame(error)
  }

  #frameOf(event: AgentEvent): string {
    switch (event.type) {
      case 'llm_delta':
        return this.textFrame(event.text)
      case 'thinking_delta':
        return this.thinkingFrame(event.text)
      case 'error':
        return this.#ended(failureOf(event))
      case 'stats':
        this.stats = event
        return ''
      default: {
        const moonbase = toldOf(event)
        return moonbase ? this.extensionFrame(moonbase) : ''
      }
    }
  }
}
