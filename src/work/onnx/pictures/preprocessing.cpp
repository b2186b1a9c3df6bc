#include "onnx/pictures/preprocessing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/files/number.h"

namespace dlasim {
namespace {

constexpr const char* kPreprocess = "--preprocess";
constexpr std::uint32_t kMaxResizedSide = 1 << 14;
constexpr std::array<std::string_view, 3> kColours{"rgb", "bgr", "grey"};

[[noreturn]] void refuse_text(const std::string& text, const std::string& expected)
{
    throw ConfigError(kPreprocess, "found \"" + text + "\", expected " + expected);
}

/// N or WxH. `one`: what N alone means for the height
Preprocessing::Size size_of(const std::string& text, const std::string& value, bool square)
{
    const std::size_t cross = value.find('x');
    const auto width = whole_number(std::string_view(value).substr(0, cross), 1, kMaxResizedSide);
    const auto height = cross == std::string::npos ? width : whole_number(std::string_view(value).substr(cross + 1), 1, kMaxResizedSide);
    if (!width || !height) refuse_text(text, "N or WxH, numbers in 1.." + std::to_string(kMaxResizedSide));
    const bool only_width = cross == std::string::npos && !square;
    return {static_cast<std::uint32_t>(*width), only_width ? 0 : static_cast<std::uint32_t>(*height)};
}

std::vector<double> numbers_of(const std::string& text, const std::string& value, bool zero)
{
    std::vector<double> numbers;
    const char* at = value.data();
    const char* const end = at + value.size();
    while (true) {
        double number = 0;
        const auto [next, error] = std::from_chars(at, end, number);
        const bool more = next != end && *next == ',';
        if (error != std::errc() || !std::isfinite(number) || (number == 0 && !zero) || (!more && next != end))
            refuse_text(text, std::string("numbers") + (zero ? "" : " other than 0") + ", one or one a channel: 123.7,116.3,103.5");
        numbers.push_back(number);
        if (!more) break;
        at = next + 1;
    }
    if (numbers.size() != 1 && numbers.size() != 3) refuse_text(text, "one number, or three");
    return numbers;
}

/// Luma of ITU-R 601 in 16 bits after the point, rounded: Pillow's convert("L").
std::uint8_t grey_of(const std::uint8_t* rgb)
{
    constexpr std::uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471, kHalf = 1 << 15;
    return static_cast<std::uint8_t>((rgb[0] * kRed + rgb[1] * kGreen + rgb[2] * kBlue + kHalf) >> 16);
}

Picture coloured(const Picture& from, std::uint32_t components)
{
    if (from.components == components) return from;
    Picture to{from.width, from.height, components, {}};
    to.bytes.reserve(std::size_t{from.width} * from.height * components);
    for (std::size_t i = 0; i < from.bytes.size(); i += from.components) {
        if (components == 1) to.bytes.push_back(grey_of(&from.bytes[i]));
        else to.bytes.insert(to.bytes.end(), 3, from.bytes[i]);
    }
    return to;
}

/// The longer side follows the shorter one, its fraction cut off.
Preprocessing::Size resized_size(const Picture& picture, const Preprocessing::Size& wanted)
{
    if (wanted.height != 0) return wanted;
    const std::uint64_t shorter = std::min(picture.width, picture.height), longer = std::max(picture.width, picture.height);
    const auto other = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted.width * longer / shorter, UINT32_MAX));
    return picture.width <= picture.height ? Preprocessing::Size{wanted.width, other} : Preprocessing::Size{other, wanted.width};
}

/// Half of what is cut off, to the nearest even whole number.
std::uint32_t crop_begin(std::uint32_t size, std::uint32_t crop) { return static_cast<std::uint32_t>(std::nearbyint((size - crop) / 2.0)); }

Picture cropped(const Picture& from, const Preprocessing::Size& size, const std::string& where)
{
    if (size.width > from.width || size.height > from.height)
        throw ConfigError(where, "has " + std::to_string(from.width) + " x " + std::to_string(from.height) +
                                     " pixels where it is cropped to " + std::to_string(size.width) + " x " + std::to_string(size.height) +
                                     ", expected no less: resize");
    const std::uint32_t left = crop_begin(from.width, size.width), top = crop_begin(from.height, size.height);
    Picture to{size.width, size.height, from.components, {}};
    const std::size_t row = std::size_t{size.width} * from.components;
    to.bytes.reserve(row * size.height);
    for (std::uint32_t y = 0; y < size.height; ++y) {
        const auto begin = from.bytes.begin() + static_cast<std::ptrdiff_t>((std::size_t{top + y} * from.width + left) * from.components);
        to.bytes.insert(to.bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
    }
    return to;
}

}  // namespace

Preprocessing preprocessing_of(const std::vector<std::string>& texts)
{
    Preprocessing p;
    std::vector<std::string> seen;
    for (const std::string& text : texts) {
        const std::size_t equals = std::min(text.find('='), text.size());
        const std::string key = text.substr(0, equals), value = text.substr(std::min(equals + 1, text.size()));
        if (std::find(seen.begin(), seen.end(), key) != seen.end()) refuse_text(text, "each key once");
        seen.push_back(key);
        if (key == "resize") p.resize = size_of(text, value, false);
        else if (key == "crop") p.crop = size_of(text, value, true);
        else if (key == "mean") p.mean = numbers_of(text, value, true);
        else if (key == "norm") p.norm = numbers_of(text, value, false);
        else if (const auto found = std::find(kColours.begin(), kColours.end(), value); key == "colours" && found != kColours.end())
            p.colours = static_cast<Preprocessing::Colours>(found - kColours.begin());
        else if (key == "std") refuse_text(text, "norm=, torchvision's std times 255, and mean= times 255: pixels are 0 to 255");
        else refuse_text(text, key == "colours" ? "colours=rgb, bgr or grey" : "resize=, crop=, colours=, mean= or norm=");
    }
    return p;
}

std::string_view colours_name(Preprocessing::Colours colours) { return kColours[static_cast<std::size_t>(colours)]; }

Picture prepared(const Picture& picture, const Preprocessing& p, std::uint32_t channels, const std::string& where)
{
    Picture now = coloured(picture, channels == 1 ? 1 : 3);
    if (p.resize) {
        const Preprocessing::Size size = resized_size(now, *p.resize);
        expect_picture_size(size.width, size.height, where);
        expect_picture_size(size.width, now.height, where);
        now = resized(now, size.width, size.height);
    }
    return p.crop ? cropped(now, *p.crop, where) : now;
}

void append_numbers(const Picture& picture, const Preprocessing& p, std::vector<double>& numbers)
{
    const bool swapped = p.colours_of(picture.components) == Preprocessing::Colours::Bgr;
    for (std::uint32_t c = 0; c < picture.components; ++c) {
        const std::uint32_t component = swapped ? picture.components - 1 - c : c;
        const double mean = p.mean_of(c), norm = p.norm_of(c);
        for (std::size_t i = component; i < picture.bytes.size(); i += picture.components)
            numbers.push_back((picture.bytes[i] - mean) / norm);
    }
}

}  // namespace dlasim
