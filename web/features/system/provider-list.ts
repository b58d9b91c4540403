/** A service that answers as a model. */
export interface ModelProvider {
  readonly id: string
  readonly name: string
  readonly address: string
  /** Where a key is made. */
  readonly keys: string
}

const provider = (id: string, name: string, address: string, keys: string): ModelProvider => ({
  id,
  name,
  address,
  keys,
})

/** Services whose interface is that of chat completions. */
export const PROVIDERS: readonly ModelProvider[] = [
  provider('openai', 'OpenAI', 'https://api.openai.com/v1', 'https://platform.openai.com/api-keys'),
  provider(
    'deepseek',
    'DeepSeek',
    'https://api.deepseek.com/v1',
    'https://platform.deepseek.com/api_keys',
  ),
  provider(
    'qwen',
    'Qwen',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'https://bailian.console.aliyun.com',
  ),
  provider(
    'moonshot',
    'Moonshot Kimi',
    'https://api.moonshot.cn/v1',
    'https://platform.moonshot.cn/console/api-keys',
  ),
  provider(
    'zhipu',
    'Zhipu GLM',
    'https://open.bigmodel.cn/api/paas/v4',
    'https://open.bigmodel.cn/usercenter/apikeys',
  ),
  provider(
    'siliconflow',
    'SiliconFlow',
    'https://api.siliconflow.cn/v1',
    'https://cloud.siliconflow.cn/account/ak',
  ),
  provider(
    'openrouter',
    'OpenRouter',
    'https://openrouter.ai/api/v1',
    'https://openrouter.ai/settings/keys',
  ),
  provider(
    'gemini',
    'Google Gemini',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'https://aistudio.google.com/apikey',
  ),
  provider(
    'mistral',
    'Mistral',
    'https://api.mistral.ai/v1',
    'https://console.mistral.ai/api-keys',
  ),
  provider('groq', 'Groq', 'https://api.groq.com/openai/v1', 'https://console.groq.com/keys'),
  provider('xai', 'xAI', 'https://api.x.ai/v1', 'https://console.x.ai'),
  provider(
    'together',
    'Together',
    'https://api.together.xyz/v1',
    'https://api.together.ai/settings/api-keys',
  ),
]
