import { expect, test } from 'bun:test'
import { createLocalState } from '../../../storage/local-state.ts'
import type { SourceRow } from '../sources/row.ts'
import { createScans } from './service.ts'

/** Two servers that share the leases of one database; pages are read when `answer` is called. */
function servers() {
  const { leases } = createLocalState({ steady: () => 0 })
  const asked: { readonly tenant: string; readonly answer: (text: string) => void }[] = []
  const waits: (() => void)[] = []
  const open = () =>
    createScans({
      store: {
        texts: async () => new Map(),
        begin: async () => {},
        add: async () => true,
        forget: async () => {},
      },
      parser: {
        async *parse() {
          yield new Uint8Array() as never
        },
      },
      spool: { file: () => ({}) as never },
      readPage: ({ tenantId }) =>
        new Promise((resolve) => asked.push({ tenant: tenantId, answer: resolve })),
      leases,
      clock: { sleep: () => new Promise((resolve) => waits.push(resolve)) },
      isOn: async () => true,
      isWanted: async () => true,
      pagesMax: () => 400,
    })
  const read = (server: ReturnType<typeof open>, tenant: string, count: number) => {
    const pages = Array.from({ length: count }, (_, i) => i + 1)
    const source = { tenant_id: tenant, id: crypto.randomUUID() } as SourceRow
    const scans = { pages, fileHash: 'hash', all: count }
    return server.read(source, scans, new AbortController().signal)
  }
  const openOf = (tenant: string) => asked.filter((one) => one.tenant === tenant)
  return { open, read, asked, waits, openOf }
}

/** Until all that can go on without an answer has gone on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a tenant has two pages read at once on all servers; others do not wait for it', async () => {
  const { open, read, asked, waits, openOf } = servers()
  const [one, two] = [open(), open()]
  const ends = [read(one, 'large', 40), read(one, 'large', 40), read(two, 'large', 40)]
  await settled()
  expect(openOf('large')).toHaveLength(2)
  expect(waits).not.toHaveLength(0)

  const small = [read(one, 'small', 1), read(two, 'other', 1)]
  await settled()
  expect(asked.map(({ tenant }) => tenant)).toEqual(['large', 'large', 'small', 'other'])
  for (const { answer } of asked.splice(2)) answer('text')
  await Promise.all(small)

  let most = 0
  let all = false
  void Promise.all(ends).then(() => {
    all = true
  })
  while (!all) {
    most = Math.max(most, asked.length)
    for (const { answer } of asked.splice(0)) answer('text')
    for (const go of waits.splice(0)) go()
    await settled()
  }
  expect(most).toBe(2)
})
