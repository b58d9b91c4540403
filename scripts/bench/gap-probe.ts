// A program: requests /healthz of the address in its first argument, one request after the other,
// until its standard input ends; prints the longest wait as JSON. It runs in its own process, so
// that it measures the server only.
import { openConnection, requestBytes } from './connection.ts'

const url = process.argv[2] ?? ''
const connection = await openConnection(url)
const request = requestBytes({ method: 'GET', url: `${url}/healthz`, headers: {}, body: '' })
let longestMs = 0
let going = true
const ended = (async () => {
  for await (const _ of Bun.stdin.stream());
  going = false
})()
process.stdout.write('ready\n')
while (going) {
  const begin = performance.now()
  await connection.send(request, () => {})
  longestMs = Math.max(longestMs, performance.now() - begin)
  await Bun.sleep(2)
}
await ended
connection.close()
process.stdout.write(`${JSON.stringify({ longestMs })}\n`)
