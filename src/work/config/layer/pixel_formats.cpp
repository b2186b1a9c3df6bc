// The pixel formats of the register map, D_DATAIN_FORMAT.PIXEL_FORMAT. [spec] programming.md 4, cdma.md 5.1.
#include "config/model/layer.h"

namespace dlasim {
namespace {
// clang-format off
//   name               code   components bytes planes assembled 8-bit  float
constexpr PixelFormat kFormats[] = {
    {"T_R8",                0x00, 1, 1, 1, 1, true,  false},
    {"T_R10",               0x01, 1, 2, 1, 1, false, false},
    {"T_R12",               0x02, 1, 2, 1, 1, false, false},
    {"T_R16",               0x03, 1, 2, 1, 1, false, false},
    {"T_R16_I",             0x04, 1, 2, 1, 1, false, false},
    {"T_R16_F",             0x05, 1, 2, 1, 1, false, true},
    {"T_A16B16G16R16",      0x06, 4, 8, 1, 4, false, false},
    {"T_X16B16G16R16",      0x07, 4, 8, 1, 4, false, false},
    {"T_A16B16G16R16_F",    0x08, 4, 8, 1, 4, false, true},
    {"T_A16Y16U16V16",      0x09, 4, 8, 1, 4, false, false},
    {"T_V16U16Y16A16",      0x0a, 4, 8, 1, 4, false, false},
    {"T_A16Y16U16V16_F",    0x0b, 4, 8, 1, 4, false, true},
    {"T_A8B8G8R8",          0x0c, 4, 4, 1, 4, true,  false},
    {"T_A8R8G8B8",          0x0d, 4, 4, 1, 4, true,  false},
    {"T_B8G8R8A8",          0x0e, 4, 4, 1, 4, true,  false},
    {"T_R8G8B8A8",          0x0f, 4, 4, 1, 4, true,  false},
    {"T_X8B8G8R8",          0x10, 4, 4, 1, 4, true,  false},
    {"T_X8R8G8B8",          0x11, 4, 4, 1, 4, true,  false},
    {"T_B8G8R8X8",          0x12, 4, 4, 1, 4, true,  false},
    {"T_R8G8B8X8",          0x13, 4, 4, 1, 4, true,  false},
    {"T_A2B10G10R10",       0x14, 4, 4, 1, 4, false, false},
    {"T_A2R10G10B10",       0x15, 4, 4, 1, 4, false, false},
    {"T_B10G10R10A2",       0x16, 4, 4, 1, 4, false, false},
    {"T_R10G10B10A2",       0x17, 4, 4, 1, 4, false, false},
    {"T_A2Y10U10V10",       0x18, 4, 4, 1, 4, false, false},
    {"T_V10U10Y10A2",       0x19, 4, 4, 1, 4, false, false},
    {"T_A8Y8U8V8",          0x1a, 4, 4, 1, 4, true,  false},
    {"T_V8U8Y8A8",          0x1b, 4, 4, 1, 4, true,  false},
    {"T_Y8___U8V8_N444",    0x1c, 1, 1, 2, 3, true,  false},
    {"T_Y8___V8U8_N444",    0x1d, 1, 1, 2, 3, true,  false},
    {"T_Y10___U10V10_N444", 0x1e, 1, 2, 2, 3, false, false},
    {"T_Y10___V10U10_N444", 0x1f, 1, 2, 2, 3, false, false},
    {"T_Y12___U12V12_N444", 0x20, 1, 2, 2, 3, false, false},
    {"T_Y12___V12U12_N444", 0x21, 1, 2, 2, 3, false, false},
    {"T_Y16___U16V16_N444", 0x22, 1, 2, 2, 3, false, false},
    {"T_Y16___V16U16_N444", 0x23, 1, 2, 2, 3, false, false},
};
// clang-format on
}  // namespace

// Column "reorder" of cdma.md 5.1.
std::array<std::uint32_t, 4> PixelFormat::order() const
{
    switch (code) {
        case 0x09:
        case 0x0b:
        case 0x0d:
        case 0x11:
        case 0x1a:
        case 0x15:
        case 0x18:
            return {2, 1, 0, 3};
        case 0x0a:
        case 0x0e:
        case 0x12:
        case 0x1b:
        case 0x16:
        case 0x19:
            return {1, 2, 3, 0};
        case 0x0f:
        case 0x13:
        case 0x17:
            return {3, 2, 1, 0};
        case 0x1c:
        case 0x1e:
        case 0x20:
        case 0x22:
            return {0, 2, 1, 3};  // plane 1 swapped
        default:
            return {0, 1, 2, 3};
    }
}

const PixelFormat* find_pixel_format(const std::string& name)
{
    for (const PixelFormat& format : kFormats)
        if (name == format.name) return &format;
    return nullptr;
}

const PixelFormat* find_pixel_format(std::uint32_t code)
{
    for (const PixelFormat& format : kFormats)
        if (code == format.code) return &format;
    return nullptr;
}

}  // namespace dlasim
