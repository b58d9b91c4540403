import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Run, Schedule } from '../../src/features/runs/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { useAsking } from '../support/asks.ts'
import { quietClock } from '../support/clock.ts'
import { type McpStandIn, startMcpServer } from '../support/mcp-server.ts'
import { mcpTenant } from '../support/mcp-tenant.ts'
import { runOf } from '../support/runs.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let server: McpStandIn

beforeAll(async () => {
  upstream = await startUpstream()
  server = startMcpServer()
  app = await startApp({
    upstream: upstream.baseUrl,
    clock: quietClock(),
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
})
afterEach(() => {
  server.reset()
  upstream.reset()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  server[Symbol.dispose]()
})

const calls = () => server.methods().filter((method) => method === 'tools/call').length

test('a run calls a tool that asks if its schedule approved it, until it changes', async () => {
  const me = await mcpTenant(app, upstream)
  const { id: serverId } = await useAsking(me, await me.add(server.url))
  const body = { name: 'n', text: 'x', cron: '0 8 * * *', approved_tools: ['home__echo'] }
  const approving = (await me.console<Schedule>('POST', '/schedules', body)).json()
  const other = { ...body, name: 'other', approved_tools: [] }
  const asking = (await me.console<Schedule>('POST', '/schedules', other)).json()

  async function ran({ id }: Schedule): Promise<Run> {
    upstream.reset()
    upstream.reply({ toolCalls: [{ name: 'home__echo', arguments: '{"text":"hi"}' }] })
    const run = (await me.console<Run>('POST', `/schedules/${id}/run`)).json()
    await app.runsEnded()
    return runOf(me.console, run.id)
  }

  const called = (ok: boolean) => ({ status: 'done', tools: [{ name: 'home__echo', ok }] })
  expect(await ran(asking)).toMatchObject(called(false))
  expect(calls()).toBe(0)
  expect(await ran(approving)).toMatchObject(called(true))
  expect(calls()).toBe(1)
  server.lists([{ name: 'echo', description: 'Changed.', inputSchema: { type: 'object' } }])
  await me.api('POST', `/mcp-servers/${serverId}/refresh`)
  await me.api('PUT', `/mcp-servers/${serverId}/tools`, { approved: ['echo'], ask: ['echo'] })
  expect(await ran(approving)).toMatchObject(called(false))
  expect(calls()).toBe(1)
  await me.console('PUT', `/schedules/${approving.id}`, body)
  expect(await ran(approving)).toMatchObject(called(true))
  expect(calls()).toBe(2)
})
