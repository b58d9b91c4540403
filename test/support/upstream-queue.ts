import type { Exchange } from './upstream-exchange.ts'
import type { FaultOptions } from './upstream-fault.ts'

export interface Script {
  play(exchange: Exchange): void | Promise<void>
  /** Empties the queue and restores the first default. */
  reset(): void
}

type Turn<Answer, Kind> =
  | { readonly answer: Answer | ((request: Exchange['request']) => Answer) }
  | { readonly fault: Kind; readonly options: FaultOptions }

/** The scripts of one endpoint: a queue, then a default that repeats. */
export function scriptQueue<Answer extends object, Kind>(
  initial: Answer,
  send: (exchange: Exchange, answer: Answer) => void | Promise<void>,
  breakOff: (exchange: Exchange, fault: Kind, options: FaultOptions) => void | Promise<void>,
) {
  const queue: Turn<Answer, Kind>[] = []
  let standing: Turn<Answer, Kind> = { answer: initial }
  return {
    /** Queues one answer; a function of the request is called when it arrives. */
    reply(answer: Answer | ((request: Exchange['request']) => Answer)): void {
      queue.push({ answer })
    },
    /** Queues one fault; a number is an HTTP status. */
    fault(fault: Kind, options: FaultOptions = {}): void {
      queue.push({ fault, options })
    },
    /** The answer when the queue is empty. */
    always(answer: Answer | ((request: Exchange['request']) => Answer)): void {
      standing = { answer }
    },
    alwaysFault(fault: Kind, options: FaultOptions = {}): void {
      standing = { fault, options }
    },
    reset(): void {
      queue.length = 0
      standing = { answer: initial }
    },
    play(exchange: Exchange): void | Promise<void> {
      const turn = queue.shift() ?? standing
      if ('fault' in turn) return breakOff(exchange, turn.fault, turn.options)
      const { answer } = turn
      return send(exchange, typeof answer === 'function' ? answer(exchange.request) : answer)
    },
  }
}
