import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import type { IssuedTrigger } from '../../src/features/triggers/model.ts'
import { ROOT } from '../support/command.ts'
import { runOf, scheduled, startRuns, type TestRuns } from '../support/runs.ts'
import { make, startSink } from '../support/webhooks.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns({ MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterAll(() => on.stop())

const guideOf = (language: string) =>
  readFileSync(join(ROOT, 'web', 'guides', language, 'webhooks.md'), 'utf8')

/** What a section of the guide says, from its heading to the next. */
const sectionOf = (guide: string, heading: string) =>
  guide.split(/^###? /m).find((section) => section.startsWith(heading)) ?? ''

/** The code blocks of a section that are of this language. */
const blocksOf = (section: string, language: string) =>
  [...section.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  )

/** A template of Home Assistant, of values alone. */
const rendered = (template: string, values: object) =>
  template.replace(/\{\{ ([\w.]+) \}\}/g, (_, path: string) =>
    String(
      path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], values),
    ),
  )

/** The end of a run is told at this path of the receiver, as its documentation wants it. */
async function toldAt(path: string, format: 'json' | 'text') {
  using sink = startSink()
  const call = await on.keyOf()
  const more = { format, events: ['run.done'], include_reply: true }
  const { id } = await make(call, new URL(path, sink.url).href, more)
  const schedule = await scheduled(call, { cron: '0 8 * * *', webhook_ids: [id] })
  on.upstream.reply({ text: '晴，18 度。' })
  await call('POST', `/schedules/${schedule.id}/run`)
  await on.settled()
  expect(sink.received).toHaveLength(1)
  const [{ method, path: asked, body, headers } = {}] = sink.received
  return { method, path: asked, body: body ?? '', type: headers?.['content-type'] }
}

describe.each(['en', 'zh'])(
  'the recipes of the guide (%s) make what is documented of',
  (language) => {
    const guide = guideOf(language)

    test('ntfy: POST to the topic, the text is the message', async () => {
      const section = sectionOf(guide, 'ntfy')
      const addresses = [...section.matchAll(/`https:\/\/ntfy\.sh(\/[^`]+)`/g)].map(
        ([, path]) => path,
      )
      expect(addresses).toEqual(['/your-topic', '/your-topic?title=Moonbase&tags=robot'])
      for (const path of addresses) {
        const type = 'text/plain; charset=utf-8'
        expect(await toldAt(path ?? '', 'text')).toEqual({
          ...{ method: 'POST', path, body: '晴，18 度。', type },
        })
      }
    })

    test('ntfy: a token in the query, as base64 of its header without padding', async () => {
      const [command = ''] = blocksOf(sectionOf(guide, 'ntfy'), 'sh')
      const word = await new Response(Bun.spawn(['sh', '-c', command]).stdout).text()
      expect(word).toBe(btoa('Bearer tk_your_token').replaceAll('=', ''))
      const { path } = await toldAt(`/your-topic?auth=${word}`, 'text')
      expect(new URL(`http://x${path}`).searchParams.get('auth')).toBe(word)
    })

    test('Home Assistant: POST of JSON to the id of the webhook', async () => {
      const section = sectionOf(guide, 'Home Assistant')
      const [automation = ''] = blocksOf(section, 'yaml')
      const { triggers, actions } = YAML.parse(automation) as {
        triggers: { webhook_id: string; allowed_methods: string[] }[]
        actions: { data: { message: string } }[]
      }
      const [, path = ''] = /`http:\/\/homeassistant\.local:8123(\/[^`]+)`/.exec(section) ?? []
      expect(path).toBe(`/api/webhook/${triggers[0]?.webhook_id}`)
      const told = await toldAt(path, 'json')
      expect(triggers[0]?.allowed_methods).toContain(told.method ?? '')
      expect(told).toMatchObject({ path, type: 'application/json' })
      // A trigger has `json` where the type of the content is that of JSON.
      const message = actions[0]?.data.message ?? ''
      expect(rendered(message, { trigger: { json: JSON.parse(told.body) } })).toBe('run.done: news')
    })

    test('Home Assistant: a command over REST begins a run', async () => {
      const [, configuration = ''] = blocksOf(sectionOf(guide, 'Home Assistant'), 'yaml')
      const { url, method, content_type, payload } = (
        YAML.parse(configuration) as { rest_command: { moonbase: Record<string, string> } }
      ).rest_command.moonbase as Record<'url' | 'method' | 'content_type' | 'payload', string>
      const call = await on.keyOf()
      const asked = { name: 'bell', text: 'What is to be done?' }
      const made = (await call<IssuedTrigger>('POST', '/triggers', asked)).json()
      const token = new URL(made.url).pathname.slice('/hooks/'.length)
      const { pathname } = new URL(url.replace('TOKEN', token))
      const answer = await fetch(`${on.app.url}${pathname}`, {
        ...{ method: method.toUpperCase(), body: rendered(payload, { event: '门铃' }) },
        headers: { 'content-type': content_type },
      })
      expect(answer.status).toBe(202)
      const { run_id } = (await answer.json()) as { run_id: string }
      await on.settled()
      expect(await runOf(call, run_id)).toMatchObject({ status: 'done', trigger_id: made.id })
      const said = JSON.stringify(on.upstream.requests.at(-1)?.body)
      expect(said).toContain('门铃')
    })
  },
)
