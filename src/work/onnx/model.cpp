#include "onnx/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx.pb.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <climits>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/files/input.h"
#include "config/model/fp16.h"

namespace dlasim {
namespace {

constexpr std::int64_t kOldest = 1, kNewest = 22;
constexpr int kNesting = 100;

// What protobuf would make of a file takes many times its bytes where fields are small: their number is bounded before.

constexpr std::size_t kMaxFields = 200000, kMaxSmall = std::size_t{64} << 20;
constexpr std::uint32_t kGraph = 7, kInitializer = 5, kStrings = 6, kExternal = 13;

/// The fields of a message, one after the other: number and contents, which are empty but of length-delimited ones.
template <class Each>
void walk(std::string_view message, const std::string& file, Each each)
{
    std::size_t at = 0;
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && at < message.size(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(message[at++]);
            value |= std::uint64_t{byte & 127U} << shift;
            if (byte < 128) return value;
        }
        throw ConfigError(file, "is no ONNX model or is truncated: a number does not end");
    };
    while (at < message.size()) {
        const std::uint64_t key = varint(), kind = key & 7;
        if (kind != 0 && kind != 1 && kind != 2 && kind != 5)
            throw ConfigError(file, "is no ONNX model: found a field of kind " + std::to_string(kind));
        if (kind == 0) varint();
        const std::uint64_t length = kind == 2 ? varint() : kind == 1 ? 8 : kind == 5 ? 4 : 0;
        if (length > message.size() - at) throw ConfigError(file, "is no ONNX model or is truncated: a field goes beyond its end");
        each(static_cast<std::uint32_t>(key >> 3), kind == 2 ? message.substr(at, length) : std::string_view{});
        at += length;
    }
}

void check_fields(std::string_view bytes, const std::string& file)
{
    std::size_t fields = 0, small = 0;
    const auto count = [&](std::size_t contents) {
        small += contents;
        if (++fields > kMaxFields || small > kMaxSmall)
            throw ConfigError(file, "has more than " + std::to_string(kMaxFields) + " parts, or more than 64 MiB beside its initializers");
    };
    walk(bytes, file, [&](std::uint32_t number, std::string_view contents) {
        if (number != kGraph) return count(contents.size());
        walk(contents, file, [&](std::uint32_t part, std::string_view inner) {
            if (part != kInitializer) return count(inner.size());
            count(0);
            walk(inner, file, [&](std::uint32_t of_tensor, std::string_view) {
                if (of_tensor == kStrings || of_tensor == kExternal) count(0);
            });
        });
    });
}

class Converter {
public:
    explicit Converter(const std::string& file) : file_(file) {}

    OnnxModel model(const ::onnx::ModelProto& proto)
    {
        OnnxModel model;
        model.file = file_;
        if (!proto.has_graph()) throw ConfigError(file_, "has no graph, expected an ONNX model");
        const ::onnx::GraphProto& graph = proto.graph();
        model.name = graph.name().empty() ? std::filesystem::path(file_).stem().string() : name(graph.name());
        for (const auto& opset : proto.opset_import())
            if (opset.domain().empty() || opset.domain() == "ai.onnx") model.opset = opset.version();
        if (model.opset < kOldest || model.opset > kNewest)
            throw ConfigError(file_, "found operator set " + std::to_string(model.opset) + ", expected " + std::to_string(kOldest) +
                                         " to " + std::to_string(kNewest));
        if (graph.node_size() > static_cast<int>(kMaxOnnxNodes))
            throw ConfigError(file_,
                              "found " + std::to_string(graph.node_size()) + " nodes, expected at most " + std::to_string(kMaxOnnxNodes));
        if (graph.sparse_initializer_size() != 0) throw ConfigError(file_, "has sparse initializers, expected dense ones");
        for (const auto& tensor : graph.initializer())
            model.constants.emplace(name(tensor.name()), array(tensor, "initializer \"" + tensor.name() + "\""));
        for (const auto& input : graph.input())
            if (!model.constants.contains(input.name())) model.inputs.push_back(port(input));
        for (const auto& output : graph.output()) model.outputs.push_back(port(output));
        for (const auto& node : graph.node()) model.nodes.push_back(this->node(node));
        return model;
    }

private:
    OnnxType type(int code, const std::string& what) const
    {
        if (const std::optional<OnnxType> known = onnx_type(code)) return *known;
        throw ConfigError(file_ + ": " + what, "has elements of type " + std::to_string(code) + ", expected numbers");
    }

    OnnxArray array(const ::onnx::TensorProto& tensor, const std::string& what)
    {
        const std::string where = file_ + ": " + what;
        if (tensor.has_segment()) throw ConfigError(where, "is a segment, expected a whole tensor");
        OnnxArray array;
        array.type = type(tensor.data_type(), what);
        if (tensor.dims_size() > static_cast<int>(kMaxOnnxRank))
            throw ConfigError(
                where, "has " + std::to_string(tensor.dims_size()) + " dimensions, expected at most " + std::to_string(kMaxOnnxRank));
        std::int64_t count = 1;
        for (const std::int64_t size : tensor.dims()) {
            if (size < 0 || size > kMaxOnnxElements || (count *= size) > kMaxOnnxElements)
                throw ConfigError(where, "has a dimension of " + std::to_string(size) + ", expected a possible size");
            array.shape.push_back(size);
        }
        if ((elements_ += count) > kMaxOnnxElements)
            throw ConfigError(where, "brings the constants to " + std::to_string(elements_) + " elements, expected at most " +
                                         std::to_string(kMaxOnnxElements));
        if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL || tensor.external_data_size() != 0)
            fill_from(array, external_bytes(tensor, static_cast<std::uint64_t>(count) * facts_of(array.type).bytes, where),
                      static_cast<std::size_t>(count), where);
        else fill(array, tensor, static_cast<std::size_t>(count), where);
        return array;
    }

    /// Data in a file beside the model: in its folder or below, nowhere else, whatever links say.
    std::string external_bytes(const ::onnx::TensorProto& tensor, std::uint64_t bytes, const std::string& where) const
    {
        std::map<std::string, std::string> entries;
        for (const auto& entry : tensor.external_data()) {
            if (!entries.emplace(name(entry.key()), name(entry.value())).second)
                throw ConfigError(where, "has \"" + entry.key() + "\" of its data twice, expected it once");
        }
        const auto number = [&](const char* key) -> std::uint64_t {
            const auto found = entries.find(key);
            if (found == entries.end()) return 0;
            const std::string& text = found->second;
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size())
                throw ConfigError(where, std::string("has \"") + key + "\" = \"" + text + "\" of its data, expected a whole number");
            return value;
        };
        const std::uint64_t offset = number("offset"), length = number("length");
        if (entries.contains("length") && length != bytes)
            throw ConfigError(where, "has " + std::to_string(length) + " bytes of data in another file, expected " + std::to_string(bytes) +
                                         " for its shape");
        const std::string path = external_path(entries["location"], where);
        if (bytes == 0) return {};
        try {
            return read_range(path, offset, bytes, bytes);
        } catch (const ConfigError& error) {
            throw ConfigError(where, std::string("has its data in another file: ") + error.what());
        }
    }

    std::string external_path(const std::string& location, const std::string& where) const
    {
        namespace fs = std::filesystem;
        const fs::path given(location);
        const bool leaves = given.is_absolute() || std::find(given.begin(), given.end(), "..") != given.end();
        if (location.empty() || leaves || location.find('\0') != std::string::npos)
            throw ConfigError(where, "has its data in \"" + location + "\", expected a file in the folder of the model");
        std::error_code error;
        const fs::path own = fs::path(file_).parent_path(), folder = fs::canonical(own.empty() ? fs::path(".") : own, error);
        const fs::path target = error ? fs::path() : fs::canonical(folder / given, error);
        if (error) throw ConfigError(where, "has its data in \"" + location + "\", which is not there, expected it beside the model");
        const auto [at, rest] = std::mismatch(folder.begin(), folder.end(), target.begin(), target.end());
        if (at != folder.end())
            throw ConfigError(where,
                              "has its data in \"" + location + "\", which leads out of the folder of the model, expected a file in it");
        if (!fs::is_regular_file(target, error))
            throw ConfigError(where, "has its data in \"" + location + "\", which is no regular file, expected one");
        return ((own.empty() ? fs::path() : own) / given).string();
    }

    static void expect_count(std::size_t have, std::size_t want, const std::string& where, const char* what)
    {
        if (have != want)
            throw ConfigError(where,
                              "has " + std::to_string(have) + " " + what + " of data, expected " + std::to_string(want) + " for its shape");
    }

    static std::uint64_t word(const std::string& raw, std::size_t at, std::size_t width)
    {
        std::uint64_t value = 0;
        for (std::size_t b = 0; b < width; ++b) value |= std::uint64_t{static_cast<std::uint8_t>(raw[at + b])} << (8 * b);
        return value;
    }

    static void append_whole(OnnxArray& array, std::int64_t value)
    {
        array.wholes.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX)));
        array.clamped |= array.wholes.back() != value;
    }

    static void fill_from(OnnxArray& array, const std::string& raw, std::size_t count, const std::string& where)
    {
        const std::size_t width = facts_of(array.type).bytes;
        expect_count(raw.size(), count * width, where, "bytes");
        for (std::size_t i = 0; i < count; ++i) append(array, word(raw, i * width, width));
    }

    static void fill(OnnxArray& array, const ::onnx::TensorProto& tensor, std::size_t count, const std::string& where)
    {
        const OnnxType type = array.type;
        if (tensor.has_raw_data()) return fill_from(array, tensor.raw_data(), count, where);
        const auto take = [&](const auto& field) {
            expect_count(static_cast<std::size_t>(field.size()), count, where, "elements");
            for (const auto value : field) {
                if (type == OnnxType::Half) array.reals.push_back(static_cast<float>(double_from_fp16(static_cast<std::uint16_t>(value))));
                else if (is_real(type)) array.reals.push_back(static_cast<float>(value));
                else append_whole(array, static_cast<std::int64_t>(value));
            }
        };
        if (type == OnnxType::Float) take(tensor.float_data());
        else if (type == OnnxType::Double) take(tensor.double_data());
        else if (type == OnnxType::Int64) take(tensor.int64_data());
        else take(tensor.int32_data());
    }

    static void append(OnnxArray& array, std::uint64_t bits)
    {
        switch (array.type) {
            case OnnxType::Float:
                array.reals.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
                break;
            case OnnxType::Half:
                array.reals.push_back(static_cast<float>(double_from_fp16(static_cast<std::uint16_t>(bits))));
                break;
            case OnnxType::Double:
                array.reals.push_back(static_cast<float>(std::bit_cast<double>(bits)));
                break;
            case OnnxType::Int8:
                array.wholes.push_back(static_cast<std::int8_t>(bits));
                break;
            case OnnxType::Int16:
                array.wholes.push_back(static_cast<std::int16_t>(bits));
                break;
            case OnnxType::Uint8:
            case OnnxType::Uint16:
            case OnnxType::Int32:
                array.wholes.push_back(static_cast<std::int32_t>(bits));
                break;
            case OnnxType::Int64:
                append_whole(array, static_cast<std::int64_t>(bits));
                break;
            case OnnxType::Bool:
                array.wholes.push_back(bits != 0 ? 1 : 0);
                break;
        }
    }

    OnnxPort port(const ::onnx::ValueInfoProto& info) const
    {
        OnnxPort port;
        port.name = name(info.name());
        const std::string what = "\"" + info.name() + "\"";
        if (!info.type().has_tensor_type()) throw ConfigError(file_ + ": " + what, "is no tensor, expected one");
        const auto& tensor = info.type().tensor_type();
        port.type = type(tensor.elem_type(), what);
        port.shaped = tensor.has_shape();
        if (tensor.shape().dim_size() > static_cast<int>(kMaxOnnxRank))
            throw ConfigError(file_ + ": " + what, "has " + std::to_string(tensor.shape().dim_size()) + " dimensions, expected at most " +
                                                       std::to_string(kMaxOnnxRank));
        for (const auto& dimension : tensor.shape().dim()) {
            const std::int64_t size = dimension.has_dim_value() ? dimension.dim_value() : -1;
            if (size < -1 || size > kMaxOnnxElements)
                throw ConfigError(file_ + ": " + what, "has a dimension of " + std::to_string(size) + ", expected a possible size");
            port.shape.push_back(size);
        }
        return port;
    }

    OnnxNode node(const ::onnx::NodeProto& proto)
    {
        OnnxNode node;
        node.name = name(proto.name());
        node.op = name(proto.op_type());
        node.domain = proto.domain() == "ai.onnx" ? "" : name(proto.domain());
        for (const std::string& input : proto.input()) node.inputs.push_back(name(input));
        for (const std::string& output : proto.output()) node.outputs.push_back(name(output));
        for (const auto& proto_attribute : proto.attribute()) {
            const std::string& named = name(proto_attribute.name());
            if (!node.attributes.emplace(named, attribute(proto_attribute, node)).second)
                throw ConfigError(file_ + ": " + node.label(), "has attribute \"" + named + "\" twice, expected it once");
        }
        return node;
    }

    OnnxAttribute attribute(const ::onnx::AttributeProto& proto, const OnnxNode& node)
    {
        OnnxAttribute attribute;
        switch (proto.type()) {
            case ::onnx::AttributeProto::INT:
                attribute.kind = OnnxAttribute::Kind::Whole;
                attribute.whole = proto.i();
                break;
            case ::onnx::AttributeProto::FLOAT:
                attribute.kind = OnnxAttribute::Kind::Real;
                attribute.real = finite(proto.f(), proto, node);
                break;
            case ::onnx::AttributeProto::STRING:
                attribute.kind = OnnxAttribute::Kind::Text;
                attribute.text = name(proto.s());
                break;
            case ::onnx::AttributeProto::INTS:
                attribute.kind = OnnxAttribute::Kind::Wholes;
                attribute.wholes.assign(proto.ints().begin(), proto.ints().end());
                break;
            case ::onnx::AttributeProto::FLOATS:
                attribute.kind = OnnxAttribute::Kind::Reals;
                for (const float number : proto.floats()) attribute.reals.push_back(finite(number, proto, node));
                break;
            case ::onnx::AttributeProto::TENSOR:
                attribute.kind = OnnxAttribute::Kind::Array;
                attribute.array = array(proto.t(), node.label() + ": attribute \"" + proto.name() + "\"");
                break;
            default:
                break;
        }
        return attribute;
    }

    const std::string& name(const std::string& name) const
    {
        if (name.size() > kMaxLetters)
            throw ConfigError(file_,
                              "has a name of " + std::to_string(name.size()) + " bytes, expected at most " + std::to_string(kMaxLetters));
        return name;
    }

    double finite(float number, const ::onnx::AttributeProto& attribute, const OnnxNode& node) const
    {
        if (!std::isfinite(number))
            throw ConfigError(file_ + ": " + node.label(),
                              "has attribute \"" + attribute.name() + "\" = " + std::to_string(number) + ", expected a finite number");
        return static_cast<double>(number);
    }

    const std::string& file_;
    std::int64_t elements_ = 0;
};

}  // namespace

OnnxModel onnx_from_bytes(const std::string& bytes, const std::string& file)
{
    check_fields(bytes, file);
    ::onnx::ModelProto proto;
    google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX)));
    google::protobuf::io::CodedInputStream coded(&stream);
    coded.SetRecursionLimit(kNesting);
    if (bytes.empty() || !proto.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
        throw ConfigError(file, "is no ONNX model or is truncated: protobuf cannot read it");
    return Converter(file).model(proto);
}

OnnxModel read_onnx(const std::string& path)
{
    const auto judge = [&](std::string_view bytes) {
        if (bytes.front() >> 3 == 0) throw ConfigError(path, "is no ONNX model: its first field has number 0");
    };
    return onnx_from_bytes(read_text(path, kMaxOnnxBytes, judge), path);
}

}  // namespace dlasim
