// A Moonbase voice device: hold the button, speak, let go, hear the answer.
//
// ESP32-S3 or ESP32, Arduino core 3.x, no further library. On the first start
// type the activation code into the serial monitor (115200 baud).
//
//   INMP441     SCK 5, WS 4, SD 6, L/R to GND, VDD to 3V3
//   MAX98357A   BCLK 15, LRC 16, DIN 7, SD left open, VIN to 5V
//   Button      GPIO 0 to GND (BOOT on most boards)
// On a plain ESP32, GPIO 6 to 11 belong to the flash: take others there.
#include <Arduino.h>
#include <ESP_I2S.h>
#include <Preferences.h>
#include <WiFi.h>
#include <esp_http_client.h>
#include <freertos/FreeRTOS.h>
#include <freertos/stream_buffer.h>
#include <freertos/task.h>

const char *WIFI_SSID = "your network";
const char *WIFI_PASSWORD = "your password";
const char *SERVER = "http://192.168.1.10:3900";  // no slash at the end
const char *SERVER_CA = nullptr;  // for https: the certificate of your own CA, as PEM
const char *FIRMWARE = "1.0.0";
const char *SESSION = "home";

const int BUTTON = 0;
const int MIC_SCK = 5, MIC_WS = 4, MIC_SD = 6;
const int AMP_BCLK = 15, AMP_LRC = 16, AMP_DIN = 7;

const uint32_t HEARTBEAT_MS = 60000;
const uint32_t SPEECH_MS_MAX = 15000;
const size_t SOUND_BYTES = 32000;  // half a second of speech evens out the network

I2SClass mic, amp;
Preferences nvs;
StreamBufferHandle_t sound;
String deviceKey;
uint32_t retryAfterMs = 0, lastBeat = 0;

esp_err_t onEvent(esp_http_client_event_t *event) {
  if (event->event_id == HTTP_EVENT_ON_HEADER &&
      strcasecmp(event->header_key, "Retry-After") == 0) {
    retryAfterMs = strtoul(event->header_value, nullptr, 10) * 1000;
  }
  return ESP_OK;
}

// One POST. Its body goes out whole or in chunks, its answer comes in pieces.
class Request {
 public:
  Request(const char *path, const char *type) : url(String(SERVER) + path) {
    esp_http_client_config_t config = {};
    config.url = url.c_str();
    config.cert_pem = SERVER_CA;
    config.method = HTTP_METHOD_POST;
    config.timeout_ms = 60000;
    config.event_handler = onEvent;
    config.buffer_size = 2048;
    client = esp_http_client_init(&config);
    esp_http_client_set_header(client, "Content-Type", type);
    if (deviceKey.length() > 0) {
      String bearer = "Bearer " + deviceKey;
      esp_http_client_set_header(client, "Authorization", bearer.c_str());
    }
    retryAfterMs = 0;
  }
  ~Request() {
    esp_http_client_close(client);
    esp_http_client_cleanup(client);
  }
  // A length of -1 announces chunks.
  bool open(int length) { return esp_http_client_open(client, length) == ESP_OK; }

  bool write(const void *bytes, int length) {
    return esp_http_client_write(client, (const char *)bytes, length) == length;
  }
  // A chunk as HTTP wants it: length in hexadecimal, bytes, line end. Nothing ends the body.
  bool chunk(const void *bytes, int length) {
    char head[16];
    int size = snprintf(head, sizeof head, "%x\r\n", length);
    return write(head, size) && (length == 0 || write(bytes, length)) && write("\r\n", 2);
  }
  // The status; 0 when the server was not reached.
  int answer() {
    if (esp_http_client_fetch_headers(client) < 0) return 0;
    return esp_http_client_get_status_code(client);
  }
  int post(const String &body) {
    if (!open(body.length()) || !write(body.c_str(), body.length())) return 0;
    return answer();
  }
  // Bytes read; 0 at the end, negative when the connection broke.
  int read(void *bytes, int length) {
    return esp_http_client_read(client, (char *)bytes, length);
  }
  // The next line; false at the end.
  bool line(String &text) {
    text = "";
    for (;;) {
      if (at == held) {
        at = 0;
        held = max(0, read(buffer, sizeof buffer));
        if (held == 0) return text.length() > 0;
      }
      char letter = buffer[at++];
      if (letter == '\n') return true;
      text += letter;
    }
  }

 private:
  String url;
  esp_http_client_handle_t client;
  char buffer[256];
  int at = 0, held = 0;
};

// A text field as it stands in the JSON, with its escapes and without its quotes, so that it can
// go into the next request just as it is.
String field(const String &json, const char *name) {
  String mark = String("\"") + name + "\":\"";
  int from = json.indexOf(mark);
  if (from < 0) return "";
  from += mark.length();
  int to = from, end = json.length();
  while (to < end && json[to] != '"') to += json[to] == '\\' ? 2 : 1;
  return to < end ? json.substring(from, to) : String("");
}

void forgetKey() {
  deviceKey = "";
  nvs.remove("key");
}

// Says what a refusal means and what to do. Returns true when the status is 200.
bool accepted(int status, const char *what) {
  if (status == 200) return true;
  Serial.printf("%s: status %d. ", what, status);
  switch (status) {
    case 0:
      Serial.println("The server was not reached: check address, network, certificate.");
      break;
    case 401:
      Serial.println("Key or code not valid. In the console open Devices and make a new code.");
      forgetKey();
      break;
    case 403:
      Serial.println("This is not the key of a device. Pair again.");
      forgetKey();
      break;
    case 410:
      Serial.println("This code was used before. Make a new one in the console.");
      break;
    case 413:
      Serial.println("The recording is too long.");
      break;
    case 429:
    case 503:
      Serial.printf("Busy; waiting %u s.\n", (unsigned)(retryAfterMs / 1000));
      delay(retryAfterMs > 60000 ? 60000 : retryAfterMs);
      break;
    case 502:
      Serial.println("Nothing understood, or a service behind the server is down. Repeat.");
      break;
    default:
      Serial.println("Try again later.");
  }
  return false;
}

// Codes hold letters, digits, blanks and dashes; whatever else was typed is left out.
String readCode() {
  String code;
  for (;;) {
    int letter = Serial.read();
    if (letter == '\n' || letter == '\r') return code;
    if (isalnum(letter)) code += (char)letter;
    if (letter < 0) delay(20);
  }
}

// Exchanges a code for the key, which is shown only once, and keeps it in flash.
void activate() {
  Serial.println("Activation code:");
  String code = readCode();
  if (code.length() == 0) return;
  Request request("/v1/devices/activate", "application/json");
  String json;
  if (!accepted(request.post("{\"code\":\"" + code + "\"}"), "Activation")) return;
  request.line(json);
  deviceKey = field(json, "key");
  nvs.putString("key", deviceKey);
  Serial.println("Paired as device " + field(json, "device_id"));
}

void heartbeat() {
  lastBeat = millis();
  Request request("/v1/devices/heartbeat", "application/json");
  String body = String("{\"firmware\":\"") + FIRMWARE + "\",\"hw_model\":\"ESP32\"}";
  accepted(request.post(body), "Heartbeat");
}

// RIFF header of 16 kHz, 16 bit, mono. The length is not known yet, which -1 stands for.
const uint8_t WAV_HEADER[44] = {
  'R', 'I', 'F', 'F', 255, 255, 255, 255, 'W', 'A', 'V', 'E', 'f', 'm', 't', ' ',
  16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0,
  2, 0, 16, 0, 'd', 'a', 't', 'a', 255, 255, 255, 255};

// Sends what is spoken while the button is held. The recognised text, or "".
String hear() {
  static int32_t raw[640];  // 20 ms: left and right, 24 bits at the top of 32
  static int16_t mono[320];
  Request request("/v1/asr", "audio/wav");
  bool sent = request.open(-1) && request.chunk(WAV_HEADER, sizeof WAV_HEADER);
  uint32_t begin = millis();
  while (sent && digitalRead(BUTTON) == LOW && millis() - begin < SPEECH_MS_MAX) {
    size_t frames = mic.readBytes((char *)raw, sizeof raw) / 8;
    for (size_t i = 0; i < frames; i++) {
      mono[i] = constrain(raw[2 * i] >> 14, -32768, 32767);  // four times louder
    }
    if (frames > 0) sent = request.chunk(mono, frames * 2);
  }
  int status = sent && request.chunk(nullptr, 0) ? request.answer() : 0;
  String json;
  if (!accepted(status, "Recognition")) return "";
  request.line(json);
  return field(json, "text");
}

// One turn. The stream has the answer in pieces (llm_delta) and, last, as a whole (llm_end).
String ask(const String &text) {
  Request request("/v1/agent", "application/json");
  String body = "{\"text\":\"" + text + "\",\"session_id\":\"" + SESSION + "\"}";
  if (!accepted(request.post(body), "Answer")) return "";
  String line;
  while (request.line(line)) {
    if (!line.startsWith("data:")) continue;
    String type = field(line, "type");
    if (type == "llm_end") return field(line, "reply");
    if (type == "error") Serial.println(field(line, "message"));
  }
  return "";
}

// Signed 16 bit, 32 kHz, mono, as it comes. What is buffered goes on playing.
void speak(const String &text) {
  Request request("/v1/tts/stream", "application/json");
  if (!accepted(request.post("{\"text\":\"" + text + "\"}"), "Speech")) return;
  static uint8_t bytes[1280];  // 20 ms
  for (int got; (got = request.read(bytes, sizeof bytes)) > 0;) {
    xStreamBufferSend(sound, bytes, got, portMAX_DELAY);
  }
  while (!xStreamBufferIsEmpty(sound)) delay(20);
}

// Plays what is in the buffer. Each sample goes to both channels, which every ESP32 plays alike.
void play(void *) {
  static uint8_t bytes[1280];
  static int16_t stereo[1280];
  size_t held = 0;
  for (;;) {
    held += xStreamBufferReceive(sound, bytes + held, sizeof bytes - held, pdMS_TO_TICKS(300));
    size_t samples = held / 2;
    for (size_t i = 0; i < samples; i++) {
      stereo[2 * i] = stereo[2 * i + 1] = (int16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    }
    if (samples > 0) amp.write((uint8_t *)stereo, samples * 4);
    held %= 2;
    if (held == 1) bytes[0] = bytes[2 * samples];
  }
}

void setup() {
  Serial.begin(115200);
  pinMode(BUTTON, INPUT_PULLUP);
  nvs.begin("moonbase", false);
  deviceKey = nvs.getString("key", "");
  mic.setPins(MIC_SCK, MIC_WS, -1, MIC_SD);
  amp.setPins(AMP_BCLK, AMP_LRC, AMP_DIN);
  if (!mic.begin(I2S_MODE_STD, 16000, I2S_DATA_BIT_WIDTH_32BIT, I2S_SLOT_MODE_STEREO) ||
      !amp.begin(I2S_MODE_STD, 32000, I2S_DATA_BIT_WIDTH_16BIT, I2S_SLOT_MODE_STEREO)) {
    Serial.println("I2S did not start: check the pins.");
  }
  // A quarter of a second is gathered before sound begins.
  sound = xStreamBufferCreate(SOUND_BYTES, SOUND_BYTES / 2);
  xTaskCreate(play, "play", 4096, nullptr, 5, nullptr);
  WiFi.begin(WIFI_SSID, WIFI_PASSWORD);
  while (WiFi.status() != WL_CONNECTED) delay(200);
  WiFi.setSleep(false);  // else every packet waits for the next beacon
}

void loop() {
  if (deviceKey.length() == 0) return activate();
  if (lastBeat == 0 || millis() - lastBeat >= HEARTBEAT_MS) return heartbeat();
  if (digitalRead(BUTTON) == HIGH) return delay(20);
  String text = hear();
  if (text.length() == 0) return;
  Serial.println("You: " + text);
  String reply = ask(text);
  Serial.println("Answer: " + reply);
  if (reply.length() > 0) speak(reply);
}
