// CRC-32 against the check value of its catalogue entry (CRC-32/ISO-HDLC) and against zlib's of other contents.
#include "base/crc32.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace dlasim {
namespace crc32_test {

std::uint32_t crc_of(std::string_view text) { return crc32_of(std::vector<std::uint8_t>(text.begin(), text.end())); }

TEST(Crc32, IsThatOfZlib)
{
    EXPECT_EQ(crc_of(""), 0u);
    EXPECT_EQ(crc_of("123456789"), 0xcbf43926u);
    EXPECT_EQ(crc_of("The quick brown fox jumps over the lazy dog"), 0x414fa339u);
    EXPECT_EQ(crc32_of(std::vector<std::uint8_t>(32, 0xff)), 0xff6cab0bu);
}

}  // namespace crc32_test
}  // namespace dlasim
