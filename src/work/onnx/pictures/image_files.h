// The images of an option: a NumPy file as it is, a picture, or a folder of pictures and NumPy files in the order of their names.
//
//   FILE.npy           numbers as the model wants them, [images, ...]
//   FILE.png, .jpg     a picture, which --preprocess turns into numbers
//   FOLDER             its files *.png, *.jpg, *.jpeg, *.npy; a .npy of bytes [rows, columns, 1 or 3] or [rows, columns] is a decoded
//                      picture, another one has the numbers of one image or of several
//
// Error  ConfigError naming option and file: another size than the input has, too much in all.
#pragma once
#include "config/npy.h"
#include "onnx/pictures/preprocessing.h"

namespace dlasim {

/// An input of a model as files must fit it.
struct InputPort {
    std::string name{};
    std::vector<std::int64_t> dims{};  // of one image; -1: open
    bool shaped = true;                // dims are known
};

struct ImageArray {
    NpyArray array{};                         // [images, ...]
    std::optional<std::uint32_t> channels{};  // of the pictures among them
};

ImageArray read_images(const std::string& path, const std::string& option, const InputPort& port, const Preprocessing& preprocessing);

}  // namespace dlasim
