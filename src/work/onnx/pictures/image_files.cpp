#include "onnx/pictures/image_files.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/claims.h"
#include "base/files/input.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxFiles = 100000, kPictureRank = 3;

std::string dims_text(const std::vector<std::uint64_t>& shape)
{
    std::string text;
    for (const std::uint64_t size : shape) text += (text.empty() ? "(" : ", ") + std::to_string(size);
    return text.empty() ? "()" : text + ")";
}

/// Of a file's name, in small letters.
std::string ending_of(const fs::path& file)
{
    std::string ending = file.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return ending;
}

bool has_ending(const fs::path& file)
{
    const std::string ending = ending_of(file);
    return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".npy";
}

std::vector<fs::path> files_of(const std::string& folder, const std::string& where)
{
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code unreadable;
        if (!has_ending(at->path()) || fs::is_directory(at->path(), unreadable)) continue;
        if (files.size() == kMaxFiles) throw ConfigError(where, "has more files, expected at most " + std::to_string(kMaxFiles));
        files.push_back(at->path());
    }
    if (error) throw ConfigError(where, "cannot be read: " + error.message());
    if (files.empty()) throw ConfigError(where, "is a folder without files *.png, *.jpg, *.jpeg or *.npy, expected one at least");
    std::sort(files.begin(), files.end());
    return files;
}

/// One array of several files.
class Gathering {
public:
    Gathering(std::string option, const InputPort& port, const Preprocessing& preprocessing)
        : option_(std::move(option)), port_(port), preprocessing_(preprocessing)
    {
    }

    void add(const std::string& path)
    {
        const std::string where = option_ + ": " + path;
        if (ending_of(path) == ".npy") return add_array(read_npy_array(path, option_), where);
        const std::string bytes = read_text(path, kMaxPictureBytes);
        if (!is_picture(bytes)) throw ConfigError(where, "is no PNG or JPEG file, expected one");
        add_picture(decode_picture(bytes, where), where);
    }

    ImageArray take()
    {
        made_.array.type = type_;
        made_.array.shape = image_;
        made_.array.shape.insert(made_.array.shape.begin(), count_);
        return std::move(made_);
    }

private:
    void add_picture(const Picture& picture, const std::string& where)
    {
        if (port_.shaped && port_.dims.size() != kPictureRank)
            throw ConfigError(where, "is a picture for \"" + port_.name + "\", whose images have " + std::to_string(port_.dims.size()) +
                                         " dimensions, expected 3: channels, rows, columns");
        const std::int64_t told = port_.shaped ? port_.dims.front() : -1;
        const std::uint32_t channels =
            told < 0 ? preprocessing_.channels() : static_cast<std::uint32_t>(std::min<std::int64_t>(told, UINT16_MAX));
        if ((channels != 1 && channels != 3) || (preprocessing_.colours && preprocessing_.channels() != channels))
            throw ConfigError(where, "is a picture for \"" + port_.name + "\" of " + std::to_string(channels) +
                                         " channels, expected 3, or 1 and colours=grey");
        for (const std::vector<double>* list : {&preprocessing_.mean, &preprocessing_.norm})
            if (list->size() > channels) throw ConfigError("--preprocess", "found 3 numbers for one channel, expected one");
        const Picture now = prepared(picture, preprocessing_, channels, where);
        if (port_.shaped && ((port_.dims[1] >= 0 && port_.dims[1] != now.height) || (port_.dims[2] >= 0 && port_.dims[2] != now.width)))
            throw ConfigError(where, "has " + std::to_string(now.width) + " x " + std::to_string(now.height) + " pixels, expected " +
                                         std::to_string(port_.dims[2]) + " x " + std::to_string(port_.dims[1]) +
                                         ": --preprocess resize=WxH or crop=WxH");
        made_.channels = channels;
        begin({channels, now.height, now.width}, preprocessing_.plain_bytes() ? "|u1" : "<f8", 1, where);
        append_numbers(now, preprocessing_, made_.array.values);
    }

    void add_array(const NpyArray& array, const std::string& where)
    {
        const std::vector<std::uint64_t>& shape = array.shape;
        const std::size_t rank = port_.shaped ? port_.dims.size() : kPictureRank;
        const bool bytes = array.type == "|u1" && rank == kPictureRank && !fits(shape);
        if (bytes && (shape.size() == 2 || (shape.size() == kPictureRank && (shape[2] == 1 || shape[2] == 3)))) {
            expect_picture_size(shape[1], shape[0], where);
            Picture picture{static_cast<std::uint32_t>(shape[1]),
                            static_cast<std::uint32_t>(shape[0]),
                            shape.size() == 2 ? 1 : static_cast<std::uint32_t>(shape[2]),
                            {}};
            for (const double value : array.values) picture.bytes.push_back(static_cast<std::uint8_t>(value));
            return add_picture(picture, where);
        }
        if (shape.size() != rank && shape.size() != rank + 1)
            throw ConfigError(where, "found shape " + dims_text(shape) + ", expected the shape of an image, or images before it");
        const bool several = shape.size() == rank + 1;
        begin({shape.begin() + (several ? 1 : 0), shape.end()}, array.type, several ? shape.front() : 1, where);
        made_.array.values.insert(made_.array.values.end(), array.values.begin(), array.values.end());
    }

    bool fits(const std::vector<std::uint64_t>& shape) const
    {
        return port_.shaped &&
               std::equal(shape.begin(), shape.end(), port_.dims.begin(), port_.dims.end(),
                          [](std::uint64_t size, std::int64_t told) { return told < 0 || size == static_cast<std::uint64_t>(told); });
    }

    /// Images of one shape, within the limits of an array.
    void begin(const std::vector<std::uint64_t>& image, const std::string& type, std::uint64_t count, const std::string& where)
    {
        if (count_ != 0 && image != image_)
            throw ConfigError(where, "has an image of " + dims_text(image) + ", expected " + dims_text(image_) + " as the files before it");
        if (count_ != 0 && type != type_) type_ = "<f8";
        else type_ = type;
        image_ = image;
        count_ += count;
        std::uint64_t elements = count;
        for (const std::uint64_t size : image) elements *= size;
        if (elements + made_.array.values.size() > kMaxNpyElements)
            throw ConfigError(
                where, "makes more than " + std::to_string(kMaxNpyElements) + " numbers of the folder, expected fewer or smaller images");
    }

    const std::string option_;
    const InputPort& port_;
    const Preprocessing& preprocessing_;
    ImageArray made_;
    std::vector<std::uint64_t> image_{};
    std::string type_{};
    std::uint64_t count_ = 0;
};

}  // namespace

ImageArray read_images(const std::string& path, const std::string& option, const InputPort& port, const Preprocessing& preprocessing)
{
    std::error_code error;
    Gathering gathering(option, port, preprocessing);
    if (fs::is_directory(path, error)) {
        claim_input_folder(path);
        for (const fs::path& file : files_of(path, option + ": " + path)) gathering.add(file.string());
        return gathering.take();
    }
    if (!has_ending(path) || ending_of(path) == ".npy") return {read_npy_array(path, option), {}};
    gathering.add(path);
    return gathering.take();
}

}  // namespace dlasim
