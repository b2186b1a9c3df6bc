#include "config/onnx_work.h"

namespace dlasim {
namespace {

/// A text, or a list of them. `what`: for messages
std::vector<std::string> texts(const JsonObject& object, const char* key, const std::string& what)
{
    const Json& value = object.raw(key);
    const Json list = value.is_string() ? Json::array({value}) : value;
    if (!list.is_array() || list.empty()) throw ConfigError(object.where(key), found(value) + ", expected " + what);
    std::vector<std::string> all;
    for (const Json& one : list) {
        if (!one.is_string()) throw ConfigError(object.where(key), found(one) + ", expected " + what);
        all.push_back(one.get<std::string>());
    }
    return all;
}

/// [NAME=]FILE.
std::vector<std::string> files(const JsonObject& object, const char* key, const std::function<std::string(const std::string&)>& resolve)
{
    if (!object.has(key)) return {};
    std::vector<std::string> paths;
    for (const std::string& text : texts(object, key, "a file or a list of files")) {
        const std::size_t equals = text.find('='), begin = equals == std::string::npos ? 0 : equals + 1;
        paths.push_back(text.substr(0, begin) + resolve(text.substr(begin)));
    }
    return paths;
}

}  // namespace

OnnxWork read_onnx_work(const JsonObject& object, const std::function<std::string(const std::string&)>& resolve)
{
    OnnxWork work{"", files(object, "input", resolve), files(object, "calibrate", resolve), object.text("labels", ""),
                  object.text("precision", "")};
    if (object.has("preprocess")) work.preprocess = texts(object, "preprocess", "KEY=VALUE or a list of them");
    if (!work.labels.empty()) work.labels = resolve(work.labels);
    if (const std::string& precision = work.precision; !precision.empty() && precision != "int8" && precision != "fp16")
        throw ConfigError(object.where("precision"), "found \"" + precision + "\", expected int8 or fp16");
    return work;
}

}  // namespace dlasim
