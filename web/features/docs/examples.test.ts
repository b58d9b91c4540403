import { expect, test } from 'bun:test'
import { programFor } from './examples.ts'
import { groupsOf } from './openapi.ts'

const text = { type: 'string' }
const document = {
  paths: {
    '/v1/agent': {
      post: {
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['text'],
                properties: { text, kb: { type: 'boolean', default: true } },
              },
            },
          },
        },
        responses: { 200: { content: { 'text/event-stream': { schema: text } } } },
      },
    },
    '/v1/devices/activate': {
      post: { security: [], requestBody: { content: { 'application/json': { schema: text } } } },
    },
    '/v1/kb/docs/{id}': { delete: {} },
    '/v1/kb/files': { post: { requestBody: { content: { 'multipart/form-data': {} } } } },
    '/v1/asr': { post: { requestBody: { content: { 'application/octet-stream': {} } } } },
  },
}
const operations = groupsOf(document, '/v1').flatMap((group) => group.operations)
const of = (path: string, program: 'curl' | 'typescript' | 'python') => {
  const operation = operations.find((one) => one.path === path)
  if (!operation) throw new Error(path)
  return programFor(program, operation, 'http://moon.example', { text: "what's up?" })
}

test('the reference writes requests that name the server, with a body', () => {
  expect(of('/v1/agent', 'curl')).toBe(
    [
      "curl -N -X POST 'http://moon.example/v1/agent' \\",
      "  -H 'Authorization: Bearer <API_KEY>' \\",
      "  -H 'Content-Type: application/json' \\",
      `  -d '{"text":"what'\\''s up?","kb":true}'`,
    ].join('\n'),
  )
  expect(of('/v1/agent', 'typescript')).toContain(`JSON.stringify({"text":"what's up?","kb":true})`)
  expect(of('/v1/agent', 'python')).toContain(`json={"text":"what's up?","kb":True},`)
  expect(of('/v1/agent', 'python')).toContain('iter_lines')
})

test('the reference writes requests without a body, with a form, and with bytes', () => {
  expect(of('/v1/kb/docs/{id}', 'curl')).toContain(
    "-X DELETE 'http://moon.example/v1/kb/docs/<id>'",
  )
  expect(of('/v1/kb/files', 'curl')).toContain('-F file=@<FILE>')
  expect(of('/v1/kb/files', 'typescript')).toContain("form.set('file'")
  expect(of('/v1/asr', 'python')).toContain('data=open("<FILE>", "rb")')
})

test('the reference writes no credential where none is asked for', () => {
  for (const program of ['curl', 'typescript', 'python'] as const) {
    expect(of('/v1/devices/activate', program)).not.toMatch(/Authorization|Cookie/)
    expect(of('/v1/kb/docs/{id}', program)).toContain('<API_KEY>')
  }
})

test('the TypeScript of the reference is sound', () => {
  const transpiler = new Bun.Transpiler({ loader: 'ts' })
  for (const { path } of operations) {
    expect(() => transpiler.transformSync(of(path, 'typescript'))).not.toThrow()
  }
})
