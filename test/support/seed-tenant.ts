/** Fills a tenant with personas, apps, documents, keys, devices, turns and log rows. */
export async function seedTenant(url: string, cookie: string) {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      method,
      headers: { cookie, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  const post = <T = { id: string }>(path: string, body: unknown) => call<T>('POST', path, body)

  const persona = await post('/console/personas', {
    name: '售后顾问 · Support',
    prompt: '你是耐心的售后顾问。先复述问题，再给出一步一步的办法；不确定时如实说明。',
    is_default: true,
  })
  await post('/console/personas', { name: 'Translator', prompt: 'Translate into plain English.' })
  const app = await post('/console/apps', {
    name: '门店助手 Store assistant',
    persona_id: persona.id,
    temperature: 0.3,
    tools_enabled: ['search_knowledge_base', 'calculator'],
  })
  await post('/console/apps', {
    name: 'Night desk',
    system_prompt: 'Answer in two sentences. Offer to call back in the morning.',
    kb_enabled: false,
  })
  for (const [title, text] of DOCUMENTS) await post('/console/kb/docs', { title, text })
  const general = await post<{ key: string }>('/console/keys', {
    ...{ name: '网站客服 Website', rate_limit: 120, daily_tokens: 2_000 },
  })
  const ofApp = await post<{ key: string }>(`/console/apps/${app.id}/keys`, { daily_tokens: 1 })
  const device = await post<{ id: string; activation_code: string }>('/console/devices', {
    name: '前台音箱 Front desk',
    app_id: app.id,
    hw_model: 'esp32-s3',
  })
  await post('/console/devices', { name: 'Meeting room' })
  const activated = await post<{ key: string }>('/v1/devices/activate', {
    code: device.activation_code,
  })
  const machine = (path: string, key: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((response) => response.text())
  await machine('/v1/devices/heartbeat', activated.key, { firmware: '1.4.2' })
  await machine('/v1/agent', general.key, { text: '退货要几天？', session_id: 'customer-1042' })
  await machine('/v1/agent', activated.key, { text: '几点开门？', session_id: 'front-desk' })
  await machine('/v1/agent', ofApp.key, { text: '保修多久？', session_id: 'till-3' })
  for (const q of ['退货', '营业时间', 'warranty'])
    await machine('/v1/kb/search', general.key, { q })
  await machine('/v1/kb/search', general.key, { q: '' })
  await machine('/v1/kb/docs', activated.key, { title: 'x', text: 'y' })
  return { app, general, device }
}

const DOCUMENTS = [
  [
    '退货与换货 Returns',
    `# 退货与换货\n\n自签收之日起七天内可以无理由退货，商品需保持完好。退款在收到退货后三个工作日内原路返回。\n
定制商品、已拆封的软件不支持无理由退货。换货不收取运费。`,
  ],
  [
    '营业时间 Opening hours',
    '门店周一至周五 9:00 开门，21:00 关门；周末 10:00 开门，22:00 关门。春节期间休息七天。',
  ],
  [
    'Warranty',
    'Every device carries a warranty of two years. Batteries are covered for twelve months.',
  ],
] as const
