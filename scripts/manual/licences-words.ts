interface Words {
  readonly zh: string
  readonly en: string
}

const primitives = { zh: '无障碍的界面基础部件', en: 'accessible primitives' }
const charts = { zh: '框内绘制的图表', en: 'charts, drawn in a frame' }
const losslessAudio = { zh: '解码 FLAC 和 Vorbis', en: 'FLAC and Vorbis in' }

/** The purpose of each package. */
export const PACKAGE_WORDS: Readonly<Record<string, Words>> = {
  '@elysiajs/static': { zh: '控制台的文件', en: "the console's files" },
  '@fastify/busboy': { zh: '读取上传的表单', en: 'uploaded forms in' },
  '@huggingface/tokenizers': { zh: '向量模型的分词器', en: "the embedding models' tokenisers" },
  '@hyzyla/pdfium': {
    zh: '绘制扫描页（内含 PDFium）',
    en: 'drawing of scanned pages (has PDFium in it)',
  },
  '@modelcontextprotocol/server': { zh: 'MCP 服务端协议', en: 'the MCP protocol, as a server' },
  '@radix-ui/react-dialog': primitives,
  '@radix-ui/react-dropdown-menu': primitives,
  '@radix-ui/react-switch': primitives,
  '@streamparser/json': { zh: '逐项读取大型 JSON 文件', en: 'large JSON files, an item at a time' },
  '@simplewebauthn/browser': { zh: '浏览器里的通行密钥', en: 'passkeys in the browser' },
  '@simplewebauthn/server': { zh: '校验通行密钥', en: 'checking passkeys' },
  '@tanstack/react-query': { zh: '控制台读取数据', en: 'reading data in the console' },
  '@tanstack/react-router': { zh: '控制台的页面地址', en: 'addresses of the console' },
  '@wasm-audio-decoders/flac': losslessAudio,
  '@wasm-audio-decoders/ogg-vorbis': losslessAudio,
  diff: { zh: '比较 MCP 工具更改前后的内容', en: 'what has changed of an MCP tool' },
  aws4fetch: { zh: '为 S3 请求签名', en: 'signatures of requests to S3' },
  'decimal.js': { zh: '时间有界的精确计算', en: 'exact arithmetic in bounded time' },
  croner: { zh: 'cron 表达式的时间', en: 'the times of cron expressions' },
  elysia: { zh: '路由', en: 'routes' },
  'eventsource-parser': { zh: '读取事件流', en: 'event streams in' },
  htmlparser2: { zh: '逐段提取网页文字', en: 'text of web pages, streaming' },
  ignore: { zh: '`moonbase sync` 略过的文件', en: 'what `moonbase sync` leaves out' },
  'ipaddr.js': { zh: '地址检查的网段', en: 'address ranges of the guard' },
  jose: { zh: '登录令牌', en: 'session tokens' },
  'libopus-wasm': { zh: '解码 Opus', en: 'Opus in' },
  lowlight: { zh: '控制台中代码的颜色', en: 'colours of code in the console' },
  'lucide-react': { zh: '图标', en: 'icons' },
  marked: { zh: '把回复里的 Markdown 变成安全的元素', en: 'Markdown of replies, to safe elements' },
  mediabunny: { zh: 'Ogg、WebM 和 MP4 容器', en: 'Ogg, WebM and MP4 containers' },
  mermaid: { zh: '框内绘制的图示', en: 'diagrams, drawn in a frame' },
  'mpg123-decoder': { zh: '解码 mp3', en: 'mp3 in' },
  nodemailer: { zh: '邮件', en: 'mail' },
  'onnxruntime-node': { zh: '本机向量模型', en: 'local embedding' },
  'openid-client': { zh: 'OAuth 与 OpenID Connect', en: 'OAuth and OpenID Connect' },
  'pdfjs-dist': {
    zh: 'Adobe 的字符映射表，供中日韩 PDF 使用',
    en: "Adobe's character maps for Chinese, Japanese and Korean PDFs",
  },
  pg: { zh: 'PostgreSQL 数据库', en: 'databases of PostgreSQL' },
  'pinyin-pro': {
    zh: '为 eSpeak NG 注音，后者是独立的程序（GPL）',
    en: 'Mandarin for eSpeak NG, which stays a separate program (GPL)',
  },
  'prom-client': { zh: 'Prometheus 文本', en: 'Prometheus text' },
  react: { zh: '控制台', en: 'the console' },
  'react-dom': { zh: '控制台', en: 'the console' },
  'reflect-metadata': { zh: '通行密钥库所需', en: 'needed by the passkey library' },
  'sqlite-vec': { zh: 'SQLite 里的向量', en: 'vectors in SQLite' },
  temml: { zh: '控制台中的公式', en: 'formulas in the console' },
  unpdf: { zh: '读取 PDF 的文字（内含 PDF.js）', en: 'text of PDFs (has PDF.js in it)' },
  uqr: { zh: '激活码的二维码', en: 'QR codes of activation codes' },
  vega: charts,
  'vega-embed': charts,
  'vega-interpreter': charts,
  'vega-lite': charts,
  'wasm-media-encoders': { zh: '编码 mp3', en: 'mp3 out' },
  zod: { zh: '设置、请求体、API 描述', en: 'settings, bodies, the API document' },
}

/** Parts of a package under licences that its licence field omits. */
export const PACKAGE_NOTES: Readonly<Record<string, string>> = {
  '@wasm-audio-decoders/flac': 'codec-parser: LGPL-3.0',
  '@wasm-audio-decoders/ogg-vorbis': 'codec-parser: LGPL-3.0',
  '@hyzyla/pdfium': 'PDFium: Apache-2.0',
  'libopus-wasm': 'libopus: BSD-3-Clause',
  'mpg123-decoder': 'mpg123: LGPL-2.1',
  unpdf: 'PDF.js: Apache-2.0',
  'wasm-media-encoders': 'LAME: LGPL',
}

/** Licences of packages that name theirs in a file only, not in `package.json`. */
export const LICENCES: Readonly<Record<string, string>> = { khroma: 'MIT' }
