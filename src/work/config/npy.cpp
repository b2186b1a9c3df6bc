#include "config/npy.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/files/number.h"
#include "config/json_object.h"
#include "config/model/fp16.h"

namespace dlasim {
namespace {

const std::string kMagic = "\x93NUMPY";
constexpr std::uint64_t kMaxHeader = 1 << 20;  // NumPy writes a few hundred bytes

std::string shape_text(const std::vector<std::uint64_t>& shape)
{
    std::string text = "(";
    for (const std::uint64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + ")";
}

std::string list_text(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "\"" : " or \"") + word + "\"";
    return text;
}

/// The header: a dictionary of Python with three entries, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class Header {
public:
    Header(std::string_view text, const std::string& name) : text_(text), name_(name)
    {
        expect('{');
        while (!take('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr") once(type, key) = description();
            else if (key == "fortran_order") once(fortran, key) = take_word("True") || (take_word("False") ? false : fail("True or False"));
            else if (key == "shape") once(shape, key) = sizes();
            else throw ConfigError(name_, "the .npy header has '" + key + "', expected 'descr', 'fortran_order' and 'shape'");
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        peek();
        if (at_ != text_.size()) fail("nothing after its dictionary");
        const auto there = [&](bool given, const char* key) {
            if (!given) throw ConfigError(name_, std::string("the .npy header has no '") + key + "', expected one");
        };
        there(type.has_value(), "descr");
        there(fortran.has_value(), "fortran_order");
        there(shape.has_value(), "shape");
    }
    std::optional<std::string> type;
    std::optional<bool> fortran;
    std::optional<std::vector<std::uint64_t>> shape;

private:
    static constexpr std::string_view kBlanks = " \t\r\n\f";

    [[noreturn]] bool fail(const char* expected) const
    {
        throw ConfigError(name_, "the .npy header cannot be read at character " + std::to_string(at_ + 1) + ", expected " + expected);
    }
    char peek()
    {
        at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c)
    {
        if (peek() != c) return false;
        ++at_;
        return true;
    }
    bool take_word(std::string_view word)
    {
        peek();
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }
    void expect(char c)
    {
        const char text[] = {'"', c, '"', '\0'};
        if (!take(c)) fail(text);
    }
    template <class T>
    T& once(std::optional<T>& value, const std::string& key)
    {
        if (value) throw ConfigError(name_, "the .npy header has '" + key + "' twice, expected it once");
        return value.emplace();
    }
    std::string quoted()
    {
        const char quote = peek();
        const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
        if (end == std::string_view::npos) fail("a text in quotes");
        const std::size_t start = at_ + 1;
        at_ = end + 1;
        return std::string(text_.substr(start, end - start));
    }
    /// Of records it is a list.
    std::string description()
    {
        if (peek() != '[') return quoted();
        throw ConfigError(name_, "found records, expected numbers");
    }
    std::vector<std::uint64_t> sizes()
    {
        std::vector<std::uint64_t> list;
        expect('(');
        while (!take(')')) {
            peek();
            const std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
            const std::optional<std::uint64_t> size = whole_number(text_.substr(at_, end - at_), 0, std::uint64_t{1} << 40);
            if (!size) fail("a size in the shape, 0 to 2^40");
            at_ = end;
            take_word("L");  // of Python 2
            list.push_back(*size);
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return list;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
};

/// A parsed file; its data begin at `start`.
struct NpyFile {
    std::string bytes, type;
    std::vector<std::uint64_t> shape;
    std::size_t start = 0;

    std::size_t width() const { return static_cast<std::size_t>(type[2] - '0'); }
    std::uint64_t word(std::size_t i) const
    {
        std::uint64_t value = 0;
        for (std::size_t b = 0; b < width(); ++b)
            value |= std::uint64_t{static_cast<std::uint8_t>(bytes[start + i * width() + b])} << (8 * b);
        return value;
    }
};

void check_magic(std::string_view bytes, const std::string& name)
{
    if (bytes.size() < 10 || !bytes.starts_with(kMagic))
        throw ConfigError(name, "is no .npy file, expected one that starts with \\x93NUMPY");
}

/// `types` are the dtypes that will do; `most`: bytes of the data.
NpyFile open_npy(const std::string& path, const std::vector<std::string>& types, std::uint64_t most, const std::string& where)
{
    const std::string name = where + ": " + path;
    NpyFile file;
    try {
        file.bytes = read_text(path, kMaxHeader + most, [&](std::string_view bytes) { check_magic(bytes, path); });
    } catch (const ConfigError& error) {
        throw ConfigError(where, error.what());
    }
    const std::string& bytes = file.bytes;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    check_magic(bytes, name);
    const unsigned version = byte(6);
    if (version < 1 || version > 3) throw ConfigError(name, "found .npy version " + std::to_string(version) + ", expected 1, 2 or 3");
    const std::size_t start = version == 1 ? 10 : 12;
    if (bytes.size() < start) throw ConfigError(name, "is truncated in its header, expected at least " + std::to_string(start) + " bytes");
    std::size_t length = byte(8) + (std::size_t{byte(9)} << 8);
    if (version > 1) length += (std::size_t{byte(10)} << 16) + (std::size_t{byte(11)} << 24);
    if (bytes.size() - start < length)
        throw ConfigError(name, "is truncated in its header, expected " + std::to_string(length) + " bytes of header");
    const Header header(std::string_view(bytes).substr(start, length), name);

    std::string& type = file.type;
    type = *header.type;
    if (type == "<i1" || type == "=i1") type = "|i1";
    if (type == "<u1" || type == "=u1") type = "|u1";
    if (std::find(types.begin(), types.end(), type) == types.end())
        throw ConfigError(name, "found dtype \"" + type + "\", expected " + list_text(types));
    if (*header.fortran) throw ConfigError(name, "found Fortran order, expected C order");
    file.shape = *header.shape;
    file.start = start + length;
    return file;
}

void expect_data(const NpyFile& file, std::uint64_t count, const std::string& name)
{
    const std::size_t have = file.bytes.size() - file.start;
    if (have != count * file.width())
        throw ConfigError(name, "found " + std::to_string(have) + " bytes of data, expected " + std::to_string(count * file.width()) +
                                    " for shape " + shape_text(file.shape) + (have < count * file.width() ? ": truncated" : ""));
}

}  // namespace

std::vector<std::int32_t> read_npy(const std::string& path, const std::vector<std::string>& types, const std::vector<std::uint64_t>& shape,
                                   const std::string& where)
{
    const std::string name = where + ": " + path;
    std::uint64_t count = 1, most_width = 0;
    for (const std::uint64_t size : shape) count *= size;
    for (const std::string& type : types) most_width = std::max(most_width, static_cast<std::uint64_t>(type[2] - '0'));
    const NpyFile file = open_npy(path, types, count * most_width, where);
    if (file.shape != shape) throw ConfigError(name, "found shape " + shape_text(file.shape) + ", expected " + shape_text(shape));
    expect_data(file, count, name);
    std::vector<std::int32_t> values(count);
    const unsigned unused = 32 - 8 * static_cast<unsigned>(file.width());
    for (std::size_t i = 0; i < count; ++i) {
        const auto word = static_cast<std::uint32_t>(file.word(i));
        values[i] = file.type[1] == 'i' ? static_cast<std::int32_t>(word << unused) >> unused : static_cast<std::int32_t>(word);
    }
    return values;
}

NpyArray read_npy_array(const std::string& path, const std::string& where)
{
    const std::string name = where + ": " + path;
    const NpyFile file =
        open_npy(path, {"<f2", "<f4", "<f8", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "|b1"}, 8 * kMaxNpyElements, where);
    NpyArray array{file.type, file.shape, {}};
    std::uint64_t count = 1;
    for (const std::uint64_t size : file.shape)
        if (size > kMaxNpyElements || (count *= size) > kMaxNpyElements)
            throw ConfigError(
                name, "found shape " + shape_text(file.shape) + ", expected at most " + std::to_string(kMaxNpyElements) + " elements");
    expect_data(file, count, name);
    array.values.resize(count);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(file.width());
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t word = file.word(i);
        double& value = array.values[i];
        if (file.type[1] == 'u' || file.type[1] == 'b') value = static_cast<double>(word);
        else if (file.type[1] == 'i') value = static_cast<double>(static_cast<std::int64_t>(word << unused) >> unused);
        else if (file.type == "<f2") value = double_from_fp16(static_cast<std::uint16_t>(word));
        else if (file.type == "<f4") value = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
        else value = std::bit_cast<double>(word);
    }
    return array;
}

namespace {

std::string npy_header(const std::string& type, const std::vector<std::uint64_t>& shape)
{
    std::string list;
    for (const std::uint64_t size : shape) list += std::to_string(size) + ", ";
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + list + "), }";
    header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
    header += '\n';
    std::string bytes = kMagic + '\x01' + '\x00';
    bytes += static_cast<char>(header.size() & 255);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    return bytes;
}

}  // namespace

std::string npy_numbers(const std::string& type, const std::vector<std::uint64_t>& shape, const std::vector<double>& values)
{
    std::string bytes = npy_header(type, shape);
    const auto width = static_cast<std::size_t>(type[2] - '0');
    for (const double value : values) {
        const std::uint64_t word = type == "<f2"   ? fp16_from_double(value)
                                   : type == "<f4" ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                   : type == "<f8" ? std::bit_cast<std::uint64_t>(value)
                                                   : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        for (std::size_t b = 0; b < width; ++b) bytes += static_cast<char>((word >> (8 * b)) & 255);
    }
    return bytes;
}

std::string npy_bytes(const std::string& type, const std::vector<std::uint64_t>& shape, const std::vector<std::int32_t>& values)
{
    std::string bytes = npy_header(type, shape);
    const std::size_t width = static_cast<std::size_t>(type[2] - '0'), start = bytes.size();
    bytes.resize(start + values.size() * width);
    char* to = bytes.data() + start;
    for (const std::int32_t value : values)
        for (std::size_t b = 0; b < width; ++b) *to++ = static_cast<char>((value >> (8 * b)) & 255);
    return bytes;
}

}  // namespace dlasim
