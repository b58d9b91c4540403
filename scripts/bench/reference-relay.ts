import { directStream } from './direct-stream.ts'

/** The upstream request of a turn, as the product sends it without tools. */
const upstreamBody = (text: string, history: readonly unknown[]) =>
  JSON.stringify({
    model: 'fake',
    stream: true,
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      ...history,
      { role: 'user', content: text },
    ],
  })

const frame = (type: string, fields: Record<string, unknown>) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

/** Texts of the complete chunks in a stream of bytes: lines, JSON, `delta.content`. */
function createDeltaReader() {
  const decoder = new TextDecoder()
  let rest = ''
  return (bytes: Uint8Array): string[] => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    return lines.flatMap((line) => {
      if (!line.startsWith('data: {')) return []
      const chunk = JSON.parse(line.slice(6)) as {
        choices: { delta?: { content?: string } }[]
      }
      return chunk.choices[0]?.delta?.content || []
    })
  }
}

export interface RelayWork {
  readonly text: string
  readonly history: readonly unknown[]
  readonly store: (reply: string) => void
}

/** A minimal relay: turns the upstream's chunks into the events of a turn and writes them. */
export function relay(upstream: string, work: RelayWork): Response {
  const left = new AbortController()
  const body = directStream({
    async pull(controller) {
      const answer = await fetch(`${upstream}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: upstreamBody(work.text, work.history),
        signal: left.signal,
      })
      const read = createDeltaReader()
      let reply = ''
      for await (const bytes of answer.body ?? []) {
        const texts = read(bytes)
        if (texts.length === 0) continue
        reply += texts.join('')
        controller.write(texts.map((text) => frame('llm_delta', { text })).join(''))
        await controller.flush()
      }
      work.store(reply)
      controller.write(frame('stats', { iterations: 1, channel: 'platform' }))
      controller.write(frame('llm_end', { reply }))
      await controller.end()
    },
    cancel: () => left.abort(),
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
