import { Elysia } from 'elysia'
import { createApp } from '../../src/app.ts'
import { createMemoryBudget } from '../../src/core/memory-budget.ts'
import { gate } from '../../src/http/gate.ts'
import { createRequestContexts } from '../../src/http/observe.ts'
import { createBodyTimers, createRequestMemory } from '../../src/http/request-limits.ts'

export interface Route {
  readonly method: string
  /** With parameters as `:id`. */
  readonly path: string
}

type Parts = Parameters<typeof createApp>[0]

/** A proxy in place of services that are never called: every property and call returns it. */
const idle: unknown = new Proxy(() => {}, {
  get: (_, name) => {
    if (name === Symbol.iterator) return [][Symbol.iterator].bind([])
    return name === Symbol.toPrimitive ? () => '' : idle
  },
  apply: () => idle,
})

/** The application with all its routes and without services. */
export function emptyApp() {
  const refuse = () => Promise.reject(new Error('nobody is let in'))
  const memory = createRequestMemory(createMemoryBudget(0))
  const timerFor = createBodyTimers({ steady: () => 0, memory })
  const uploads = { timerFor, hold: memory.add, parse: refuse }
  const given: Partial<Parts> = {
    machineGate: gate('machine', refuse, uploads),
    consoleGate: gate('console', refuse, uploads),
    pages: {
      ...{ routes: new Elysia(), missing: () => null, share: null, widget: null },
      head: { sheet: null, theme: null },
    },
    contexts: createRequestContexts(() => 0),
    chat: { limits: { messages: 1, chars: 1 } } as Parts['chat'],
    tls: false,
  }
  const parts = new Proxy(given, { get: (known, name) => Reflect.get(known, name) ?? idle })
  return createApp(parts as Parts)
}

/** Every route of the product. */
export const allRoutes = (): Route[] =>
  emptyApp().routes.map(({ method, path }) => ({ method, path }))
