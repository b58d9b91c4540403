import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fakeClock } from '../../../test/support/clock.ts'
import { tempFolder } from '../../../test/support/temp.ts'
import { createHostsFile, createResolver, type DnsQuery } from './resolver.ts'

const folder = tempFolder()
afterAll(() => folder[Symbol.dispose]())
const hosts = join(folder.path, 'hosts')

/** DNS that knows no name, and a system's resolver that knows every name. */
function resolverOf(listed: readonly string[], query?: DnsQuery) {
  const asked: string[] = []
  const clock = fakeClock({ timers: 'moved' })
  const ask = (name: string) => {
    asked.push(`dns ${name}`)
    return Promise.reject(new Error('unknown'))
  }
  const unknown: DnsQuery = { resolve4: ask, resolve6: ask, cancel: () => {} }
  const resolve = createResolver({
    clock,
    openQuery: async () => query ?? unknown,
    hostsFile: createHostsFile(hosts),
    systemLookup: async (name) => {
      asked.push(`system ${name}`)
      return [{ address: '192.168.1.9', family: 4 }]
    },
    isListed: (name) => listed.includes(name),
  })
  const addresses = async (name: string, signal?: AbortSignal) =>
    (await resolve(name, { tenantId: 't', ...(signal ? { signal } : {}) })).map((a) => a.address)
  return { addresses, asked, clock }
}

test('a name of the hosts file is found there, also after the file changed', async () => {
  writeFileSync(hosts, '# local\n172.17.0.1\thost.docker.internal gateway # docker\n')
  const { addresses, asked } = resolverOf([])
  expect(await addresses('host.docker.internal')).toEqual(['172.17.0.1'])
  expect(await addresses('gateway')).toEqual(['172.17.0.1'])
  writeFileSync(hosts, '192.168.1.5 NAS\nfd00::5 nas\nnonsense nas\n')
  expect(await addresses('nas')).toEqual(['192.168.1.5', 'fd00::5'])
  expect(asked).toEqual([])
  await expect(addresses('gateway')).rejects.toThrow('unknown')
})

test('a machine without a hosts file asks DNS', async () => {
  const missing = createHostsFile(join(folder.path, 'none'))
  expect(missing('nas')).toEqual([])
})

test('localhost resolves to this machine without a query', async () => {
  const { addresses, asked } = resolverOf([])
  expect(await addresses('localhost')).toEqual(['127.0.0.1', '::1'])
  expect(await addresses('app.localhost')).toEqual(['127.0.0.1', '::1'])
  expect(asked).toEqual([])
})

test("only names that the operator lists reach the system's resolver", async () => {
  const { addresses, asked } = resolverOf(['nas.local'])
  expect(await addresses('nas.local')).toEqual(['192.168.1.9'])
  expect(asked).toEqual(['dns nas.local', 'dns nas.local', 'system nas.local'])
  expect(await addresses('nas.local')).toEqual(['192.168.1.9'])
  expect(asked.slice(3)).toEqual(['system nas.local'])
  await expect(addresses('other.local')).rejects.toThrow('unknown')
  expect(asked).not.toContain('system other.local')
})

test('addresses of both families are found, and one family is enough', async () => {
  const both = resolverOf([], {
    resolve4: async () => ['192.0.2.1', '192.0.2.2'],
    resolve6: async () => ['2001:db8::1'],
    cancel: () => {},
  })
  expect(await both.addresses('a.example.com')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1'])
  const one = resolverOf([], {
    resolve4: () => Promise.reject(new Error('none')),
    resolve6: async () => ['2001:db8::1'],
    cancel: () => {},
  })
  expect(await one.addresses('a.example.com')).toEqual(['2001:db8::1'])
})

test('eight addresses of each family are used of a host with thousands', async () => {
  const many = resolverOf([], {
    resolve4: async () => Array.from({ length: 4_000 }, (_, i) => `192.0.2.${i % 250}`),
    resolve6: async () => Array.from({ length: 4_000 }, (_, i) => `2001:db8::${i}`),
    cancel: () => {},
  })
  const addresses = await many.addresses('a.example.com')
  expect([addresses.length, addresses[7], addresses[8]]).toEqual([16, '192.0.2.7', '2001:db8::0'])
})

test('the resolver does not wait for a name server that answers for one family', async () => {
  const cancelled = Promise.withResolvers<never>()
  const half = resolverOf([], {
    resolve4: async () => ['192.0.2.1'],
    resolve6: () => cancelled.promise,
    cancel: () => cancelled.reject(new Error('cancelled')),
  })
  const resolving = half.addresses('a.example.com')
  while (half.clock.armed() < 2) await Promise.resolve()
  half.clock.advance(250)
  expect(await resolving).toEqual(['192.0.2.1'])
})

test('a name without an answer fails after five seconds', async () => {
  const cancelled = Promise.withResolvers<never>()
  const silent = resolverOf([], {
    resolve4: () => cancelled.promise,
    resolve6: () => cancelled.promise,
    cancel: () => cancelled.reject(new Error('cancelled')),
  })
  const resolving = silent.addresses('a.example.com').catch((error) => error)
  while (silent.clock.armed() < 1) await Promise.resolve()
  silent.clock.advance(5_000)
  expect(await resolving).toMatchObject({ message: 'cancelled' })
})

test('an abort cancels the query and says nothing about the name', async () => {
  const cancelled = Promise.withResolvers<never>()
  const begun = Promise.withResolvers<void>()
  let queries = 0
  const hanging: DnsQuery = {
    resolve4: () => {
      queries++
      begun.resolve()
      return cancelled.promise
    },
    resolve6: () => cancelled.promise,
    cancel: () => cancelled.reject(new Error('cancelled')),
  }
  const { addresses } = resolverOf([], hanging)
  const caller = new AbortController()
  const resolving = addresses('a.example.com', caller.signal).catch((error) => error)
  await begun.promise
  const reason = new Error('client left')
  caller.abort(reason)
  expect(await resolving).toBe(reason)
  await expect(addresses('a.example.com')).rejects.toThrow('cancelled')
  expect(queries).toBe(2)
})
