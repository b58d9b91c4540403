import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { selfSigned } from '../../../test/support/certificate.ts'
import { systemClock } from '../../core/clock.ts'
import { createGuardedFetch } from './guarded-fetch.ts'
import { createHappyEyeballs, probeConnect } from './happy-eyeballs.ts'
import { createGuard, type ResolvedAddress } from './url-guard.ts'

const HOST = 'good.example.com'
const chooseAddress = createHappyEyeballs({ clock: systemClock(), probeConnect })
const { cert, key } = selfSigned(HOST)
let tls: Bun.Server<undefined>
let plain: Bun.Server<undefined>
let arrived: PromiseWithResolvers<void>
let aborted: PromiseWithResolvers<void>

function answer(request: Request): Response | Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/redirect') return Response.redirect('http://169.254.169.254/secret', 302)
  if (pathname === '/stream') return new Response(steps(request.signal))
  if (pathname === '/silent') {
    request.signal.addEventListener('abort', () => aborted.resolve())
    arrived.resolve()
    return new Promise(() => {})
  }
  return Response.json({ url: request.url, headers: Object.fromEntries(request.headers) })
}

/** Sends one piece, and the next only after `next`. */
let next: PromiseWithResolvers<void>
function steps(signal: AbortSignal): ReadableStream<string> {
  signal.addEventListener('abort', () => aborted.resolve())
  return new ReadableStream({
    async start(controller) {
      controller.enqueue('first ')
      await next.promise
      controller.enqueue('second')
    },
  })
}

beforeAll(() => {
  const listen = { hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer }
  tls = Bun.serve({ ...listen, tls: { cert, key } })
  plain = Bun.serve(listen)
})
afterAll(async () => {
  await Promise.all([tls.stop(true), plain.stop(true)])
})

function fetchFor(allow: string[], ca?: string, address = '127.0.0.1') {
  const guard = createGuard({ resolve: async () => [{ address, family: 4 }], allow: () => allow })
  const own = ca === undefined ? {} : { ca }
  return createGuardedFetch({ guard, fetch, chooseAddress, ...own })('t')
}

describe('guardedFetch', () => {
  test('a guarded fetch connects to the checked address under the name of the URL', async () => {
    const guarded = fetchFor([HOST], cert)
    for (const [scheme, port] of [['https', tls.port] as const, ['http', plain.port] as const]) {
      const response = await guarded(`${scheme}://${HOST}:${port}/v1?a=b%20c#fragment`, {
        method: 'POST',
        body: 'text',
        headers: { authorization: 'Bearer k', host: 'forged.example.com' },
      })
      expect(await response.json()).toMatchObject({
        url: `${scheme}://${HOST}:${port}/v1?a=b%20c`,
        headers: { host: `${HOST}:${port}`, authorization: 'Bearer k', 'content-length': '4' },
      })
    }
  })

  test('a guarded fetch verifies the certificate for the name of the URL', async () => {
    const code = (error: { code?: string }) => error.code
    const guarded = fetchFor([HOST, 'evil.example.com'], cert)
    const wrong = await guarded(`https://evil.example.com:${tls.port}/`).catch(code)
    expect(wrong).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    // also while a connection verified for the right name lies idle in the pool
    expect((await guarded(`https://${HOST}:${tls.port}/`)).status).toBe(200)
    const pooled = await guarded(`https://evil.example.com:${tls.port}/`).catch(code)
    expect(pooled).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    const unknown = await fetchFor([HOST])(`https://${HOST}:${tls.port}/`).catch(code)
    expect(unknown).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    const literal = await fetchFor(
      ['127.0.0.1'],
      cert,
    )(`https://127.0.0.1:${tls.port}/`)
      .then(() => 'accepted')
      .catch(code)
    expect(literal).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  })

  test('a guarded fetch makes no connection when the guard refuses', async () => {
    let fetched = 0
    const guard = createGuard({
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      allow: () => [],
    })
    const guarded = createGuardedFetch({
      guard,
      chooseAddress,
      fetch: async () => {
        fetched++
        return new Response()
      },
    })('t')
    for (const url of [`http://${HOST}:${plain.port}/`, `http://127.1:${plain.port}/`]) {
      const failure = await guarded(url).catch((error) => error)
      expect(failure).toMatchObject({ name: 'ChannelFailure', reason: 'channel_unavailable' })
    }
    expect(fetched).toBe(0)
  })

  test('a guarded fetch resolves once and connects to that answer', async () => {
    const answers = ['93.184.216.34', '127.0.0.1']
    const urls: string[] = []
    const guard = createGuard({
      resolve: async () => [{ address: answers.shift() ?? '', family: 4 }],
      allow: () => [],
    })
    const guarded = createGuardedFetch({
      guard,
      chooseAddress,
      fetch: async (url) => {
        urls.push(url)
        return new Response()
      },
    })('t')
    await guarded(`http://${HOST}:8080/x`)
    const second = await guarded(`http://${HOST}:8080/x`).catch((error) => error)
    expect(second).toMatchObject({ reason: 'channel_unavailable' })
    expect(urls).toEqual(['http://93.184.216.34:8080/x'])
  })

  test('a guarded fetch returns a redirect instead of following it', async () => {
    const response = await fetchFor([HOST], cert)(`https://${HOST}:${tls.port}/redirect`, {
      redirect: 'follow',
    })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('http://169.254.169.254/secret')
  })

  test('a guarded fetch streams its answer, and an abort reaches the server', async () => {
    next = Promise.withResolvers()
    aborted = Promise.withResolvers()
    const controller = new AbortController()
    const response = await fetchFor([HOST], cert)(`https://${HOST}:${tls.port}/stream`, {
      signal: controller.signal,
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect(await reader?.read()).toMatchObject({ value: 'first ' })
    next.resolve()
    expect(await reader?.read()).toMatchObject({ value: 'second' })
    const reason = new Error('client left')
    controller.abort(reason)
    expect(await reader?.read().catch((error) => error)).toBe(reason)
    await aborted.promise
  })

  test('an abort ends a guarded fetch that waits for headers or for the resolver', async () => {
    arrived = Promise.withResolvers()
    aborted = Promise.withResolvers()
    const reason = new Error('client left')
    const controller = new AbortController()
    const waiting = fetchFor([HOST])(`http://${HOST}:${plain.port}/silent`, {
      signal: controller.signal,
    }).catch((error) => error)
    const stuck = createGuard({ resolve: () => new Promise(() => {}), allow: () => [] })
    const resolving = createGuardedFetch({ guard: stuck, fetch, chooseAddress })('t')(
      `http://${HOST}/`,
      {
        signal: controller.signal,
      },
    ).catch((error) => error)
    await arrived.promise
    controller.abort(reason)
    expect(await waiting).toBe(reason)
    expect(await resolving).toBe(reason)
    await aborted.promise
  })

  test('a guarded fetch ignores the proxy of the environment', async () => {
    let proxied = 0
    const proxy = Bun.serve({ port: 0, fetch: () => new Response(String(++proxied)) })
    const before = process.env.HTTP_PROXY
    process.env.HTTP_PROXY = proxy.url.href
    try {
      const response = await fetchFor([HOST])(`http://${HOST}:${plain.port}/`)
      expect(await response.json()).toMatchObject({ url: `http://${HOST}:${plain.port}/` })
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY
      else process.env.HTTP_PROXY = before
      await proxy.stop(true)
    }
    expect(proxied).toBe(0)
  })

  test('a guarded fetch takes the next address of a host when one does not answer', async () => {
    const closed = '127.0.0.9'
    const calls: string[] = []
    const answers: ResolvedAddress[] = [
      { address: '::1', family: 6 },
      { address: closed, family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const guard = createGuard({ resolve: async () => answers, allow: () => [HOST] })
    const guarded = createGuardedFetch({
      guard,
      chooseAddress,
      fetch: (url, init) => {
        calls.push(new URL(url).hostname)
        return fetch(url, init)
      },
    })('t')
    const ask = async () => (await guarded(`http://${HOST}:${plain.port}/`)).json()
    expect(await ask()).toMatchObject({ headers: { host: `${HOST}:${plain.port}` } })
    await ask()
    // What answered before but is no longer an address of the host is not asked.
    answers.splice(2, 1)
    const failure = await ask().catch((error) => error)
    expect(failure).toMatchObject({ message: 'no address of the host answers' })
    expect(calls).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  test('a guarded fetch connects to no address when the guard refuses one of them', async () => {
    let probes = 0
    const answers = [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const guard = createGuard({ resolve: async () => answers, allow: () => [] })
    const counting = createHappyEyeballs({
      clock: systemClock(),
      probeConnect: async () => {
        probes++
      },
    })
    const guarded = createGuardedFetch({ guard, fetch, chooseAddress: counting })('t')
    const failure = await guarded(`http://${HOST}:${plain.port}/`).catch((error) => error)
    expect(failure).toMatchObject({ reason: 'channel_unavailable' })
    expect(probes).toBe(0)
  })
})
