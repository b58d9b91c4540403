import { describe, expect, test } from 'bun:test'
import { ChannelFailure } from '../ports/failure.ts'
import { checkLiteral, createGuard, isAllowEntry, type ResolvedAddress } from './url-guard.ts'

const INTERNAL_HOSTS = [
  // IPv4 in every spelling of the URL standard
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '0x7f000001', '0x7f.1', '0x7F.0.0.0x1'],
  ...['2130706433', '017700000001', '0177.0.0.1', '0177.0x0.1', '127.0.0.1.', '127.000.000.001'],
  ...['%31%32%37.0.0.1', '１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1'],
  ...['0', '0x', '0.0.0.0', '0.1.2.3', '0x0', '00000000000'],
  ...['10.0.0.1', '10.255.255.255', '012.0.0.1', '167772161', '0xa000001'],
  ...['172.16.0.1', '172.31.255.255', '192.168.0.1', '0300.0250.1.1', '3232235777', '0xc0a80101'],
  ...['169.254.0.1', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376'],
  ...['169。254。169。254', '169.254.43518', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ...['168.63.129.16', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.7'],
  ...['203.0.113.9', '192.88.99.1', '224.0.0.1', '239.255.255.250', '240.0.0.1'],
  ...['255.255.255.255', '4294967295', '0xffffffff'],
  // IPv6, alone and around an IPv4 address
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:10.0.0.1]', '[0:0:0:0:0:ffff:a9fe:a9fe]'],
  ...['[::127.0.0.1]', '[::7f00:1]', '[::8.8.8.8]', '[::ffff:0:127.0.0.1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::8.8.8.8]'],
  ...['[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2002:808:808::1]', '[2001:0:53aa:64c::1]'],
  ...['[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[fdff::1]'],
  ...['[ff02::1]', '[FF05::2]', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[2001:10::1]'],
  ...['[2001:20::1]', '[5f00::1]', '[4000::1]', '[1::1]', '[8000::1]'],
  // names
  ...['localhost', 'LOCALHOST', 'LocalHost.', 'ⓛocalhost', 'lo\u200bcalhost', 'loc\u00adalhost'],
  ...['ｌｏｃａｌｈｏｓｔ', 'localhost。', '%6cocalhost', 'a.localhost', 'a.b.localhost.'],
  ...['localhost.localdomain', 'printer.local', 'PRINTER.LOCAL.', 'x.internal', 'nas.home.arpa'],
  ...['metadata.google.internal', 'metadata.google.internal.', 'metadata', 'redis', 'router.lan'],
  ...['kubernetes.default.svc', 'vault.service.consul', 'printer.fritz.box', 'a.test', 'x.onion'],
  ...[
    'wiki.corp',
    'tv.home',
    'hr.intranet',
    'a..b',
    '.example.com',
    'example.com..',
    'localhost..',
  ],
]

const MALFORMED = [
  ...['', ' ', 'http://', 'http:// ', 'https://', 'http://:80/', 'example.com', '//example.com'],
  ...['http://example.com\\@127.0.0.1/', 'http:\\\\127.0.0.1', 'http://exa\tmple.com/'],
  ...[
    'http://example.com/\r\nHost: x',
    ' http://example.com',
    'http://example.com ',
    '\0http://a.b',
  ],
  ...['http://1.2.3.4.5/', 'http://256.1.1.1/', 'http://4294967296/', 'http://127.0.0.1:99999/'],
  ...['http://[fe80::1%25eth0]/', 'http://[fe80::1%eth0]/', 'http://[::1', 'http://[::g]/'],
  ...['http://127.0.0.1%00.example.com/', 'http://exa mple.com/', 'http://a<b.com/'],
]

const SCHEMES = [
  ...['ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'data:text/html,x'],
  ...['javascript:alert(1)', 'ws://example.com/', 'unix:/run/docker.sock', 'blob:http://a.b/1'],
]

const CREDENTIALS = [
  ...['http://user@example.com/', 'https://user:pass@example.com/', 'http://:pass@example.com/'],
  ...['http://example.com@127.0.0.1/', 'http://127.0.0.1:80@example.com/', 'http://%61@b.com/'],
]

const PUBLIC = [
  ...['https://api.example.com/v1', 'http://example.com:8080/a?b=c#d', 'HTTPS://API.EXAMPLE.COM'],
  ...['http://8.8.8.8/', 'http://1.1.1.1:11434/v1', 'http://172.15.0.1/', 'http://172.32.0.1/'],
  ...['http://100.63.0.1/', 'http://100.128.0.1/', 'http://11.0.0.1/', 'http://[2606:4700::1111]/'],
  ...['http://[::ffff:8.8.8.8]/', 'http://[64:ff9b::808:808]/', 'https://a_b.example.com/'],
  ...['https://localhost.example.com/', 'https://notlocal.example.com/x'],
  ...['https://例子.测试/', 'https://xn--fsqu00a.xn--0zwm56d/', 'https://example.com./v1'],
]

describe('checkLiteral', () => {
  test.each(INTERNAL_HOSTS)('the guard refuses the internal host %p', (host) => {
    expect(checkLiteral(`http://${host}/v1`, [])).toEqual({ refused: 'internal' })
    expect(checkLiteral(`https://${host}:8443`, [])).toEqual({ refused: 'internal' })
  })

  test.each(MALFORMED)('the guard refuses the malformed URL %p', (url) => {
    expect(checkLiteral(url, [])).toEqual({ refused: 'malformed' })
  })

  test.each(SCHEMES)('the guard refuses the scheme of %p', (url) => {
    expect(checkLiteral(url, [])).toEqual({ refused: 'scheme' })
  })

  test.each(CREDENTIALS)('the guard refuses the credentials in %p', (url) => {
    expect(checkLiteral(url, [])).toEqual({ refused: 'credentials' })
  })

  test.each(PUBLIC)('the guard lets the public URL %p pass', (url) => {
    expect(checkLiteral(url, [])).toEqual({ url: new URL(url) })
  })
})

describe('the allow list', () => {
  const lists: [entry: string, url: string, lifted: boolean][] = [
    ['127.0.0.1', 'http://127.0.0.1/', true],
    ['127.0.0.1', 'http://127.0.0.1:9000/', true],
    ['127.0.0.1', 'http://127.0.0.2/', false],
    ['127.0.0.1', 'http://localhost/', false],
    ['127.0.0.1:9000', 'http://127.0.0.1:9000/', true],
    ['127.0.0.1:9000', 'http://127.0.0.1:9001/', false],
    ['127.0.0.1:9000', 'http://127.0.0.1/', false],
    ['127.0.0.1:80', 'http://127.0.0.1/', true],
    ['127.0.0.1:80', 'https://127.0.0.1/', false],
    ['nas.local:443', 'https://nas.local/', true],
    [' NAS.local ', 'https://nas.LOCAL./', true],
    ['nas.local', 'https://x.nas.local/', false],
    ['nas.local', 'https://nas.local.example.com:1/', true],
    ['local', 'http://nas.local/', false],
    ['*', 'http://127.0.0.1/', false],
    ['*.local', 'http://nas.local/', false],
    ['', 'http://127.0.0.1/', false],
    ['::1', 'http://[::1]:11434/', true],
    ['[::1]', 'http://[::1]:11434/', true],
    ['[::1]:11434', 'http://[::1]:11434/', true],
    ['[::1]:11434', 'http://[::1]:11435/', false],
    ['127.0.0.1', 'http://u:p@127.0.0.1/', false],
    ['127.0.0.1', 'ftp://127.0.0.1/', false],
    ['10.0.0.0/8', 'http://10.0.0.1/', false],
  ]
  test.each(lists)('the allow list %p for %p lifts: %p', (entry, url, lifted) => {
    expect('url' in checkLiteral(url, ['other.local', entry])).toBe(lifted)
  })

  test('an entry of the allow list is a host with an optional port', () => {
    const good = ['nas', 'nas.local', 'nas.local:80', '10.0.0.1', '[::1]:80', '::1', 'fd00::1']
    const bad = ['', 'http://nas', 'nas/', 'nas:', 'nas:x', 'u@nas', 'a b', '10.0.0.0/8', '[::1']
    expect(good.filter((entry) => !isAllowEntry(entry))).toEqual([])
    expect(bad.filter(isAllowEntry)).toEqual([])
  })
})

const requester = { tenantId: 't' }

describe('connectable', () => {
  const answering = (...addresses: string[]) =>
    addresses.map((address): ResolvedAddress => {
      return { address, family: address.includes(':') ? 6 : 4 }
    })
  const guardOf = (addresses: readonly ResolvedAddress[], allow: string[] = []) =>
    createGuard({ resolve: async () => addresses, allow: () => allow })
  const refused = { name: 'ChannelFailure', reason: 'channel_unavailable', retryable: false }

  test('the guard returns the addresses of a public host', async () => {
    const guard = guardOf(answering('93.184.216.34', '2606:2800:21f::1'))
    const target = await guard.connectable('https://example.com/v1', requester)
    expect(target).toMatchObject({ addresses: answering('93.184.216.34', '2606:2800:21f::1') })
  })

  const mixed = [
    ['127.0.0.1'],
    ['93.184.216.34', '10.0.0.1'],
    ['10.0.0.1', '93.184.216.34'],
    ['93.184.216.34', '::1'],
    ['93.184.216.34', '::ffff:169.254.169.254'],
    ['93.184.216.34', 'fe80::1%eth0'],
    ['2606:2800:21f::1%eth0'],
    ['93.184.216.34', 'nonsense'],
    ['64:ff9b::10.0.0.1'],
  ]
  test.each(mixed.map((row) => [row]))(
    'the guard refuses a name that resolves to %p',
    async (addresses) => {
      const failure = guardOf(answering(...addresses)).connectable(
        'https://rebind.example.com/',
        requester,
      )
      expect(await failure.catch((error) => error)).toMatchObject(refused)
    },
  )

  test('the guard refuses an internal literal without resolving it', async () => {
    let asked = 0
    const resolve = async () => {
      asked++
      return answering('93.184.216.34')
    }
    const guard = createGuard({ resolve, allow: () => [] })
    const failure = await guard.connectable('http://nas.local/', requester).catch((error) => error)
    expect(failure).toBeInstanceOf(ChannelFailure)
    expect(failure).toMatchObject(refused)
    expect(asked).toBe(0)
  })

  test('the guard checks every connection: an answer that turns private is refused', async () => {
    const answers = [answering('93.184.216.34'), answering('127.0.0.1')]
    const guard = createGuard({ resolve: async () => answers.shift() ?? [], allow: () => [] })
    const first = await guard.connectable('http://rebind.example.com/', requester)
    expect(first.addresses).toEqual(answering('93.184.216.34'))
    const second = await guard
      .connectable('http://rebind.example.com/', requester)
      .catch((error) => error)
    expect(second).toMatchObject(refused)
  })

  test('the guard lets a listed host through, only on the listed port', async () => {
    const guard = guardOf(answering('192.168.1.9'), ['nas.example.com:8080'])
    const listed = await guard.connectable('http://nas.example.com:8080/', requester)
    expect(listed.addresses).toEqual(answering('192.168.1.9'))
    const other = await guard
      .connectable('http://nas.example.com/', requester)
      .catch((error) => error)
    expect(other).toMatchObject(refused)
  })

  test('a name without an address is a failed connection, not a refusal', async () => {
    const unknown = createGuard({
      resolve: () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' })),
      allow: () => [],
    })
    await expect(unknown.connectable('http://gone.example.com/', requester)).rejects.toMatchObject({
      code: 'ENOTFOUND',
    })
    const empty = await guardOf([])
      .connectable('http://gone.example.com/', requester)
      .catch((e) => e)
    expect(empty).not.toBeInstanceOf(ChannelFailure)
  })
})
