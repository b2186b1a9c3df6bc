#include "config/layer/place_reader.h"
#include "refusal.h"

namespace dlasim {
namespace place_test {

Place read(const Json& placement, std::optional<Place> fallback = std::nullopt, const PlaceRule& rule = {})
{
    return read_place(JsonObject(placement, "l.json", "/placement", {"input"}), "input", rule, fallback);
}

// A port and an address, no number of bytes; bytes move it.
static_assert(!std::is_constructible_v<Place, bool, std::uint64_t> && std::is_same_v<decltype(Place{} + std::uint64_t{1}), Place>);

TEST(Place, ANumberIsAnAddressBehindDbb) { EXPECT_EQ(read({{"input", 0x80000100u}}), (Place{true, Address{0x80000100}})); }

TEST(Place, AnObjectNamesItsMemory)
{
    EXPECT_EQ(read({{"input", {{"memory", "cvsram"}, {"address", 4096}}}}), (Place{false, Address{4096}}));
    EXPECT_EQ(read({{"input", {{"address", 256}}}}), (Place{true, Address{256}}));
}

TEST(Place, WhatIsNotSaidIsTheFallbacks)
{
    const Place fallback{false, Address{512}};
    EXPECT_EQ(read(Json::object(), fallback), fallback);
    EXPECT_EQ(read({{"input", {{"memory", "dbb"}}}}, fallback), (Place{true, Address{512}}));
    EXPECT_EQ(read({{"input", {{"address", 1024}}}}, fallback), (Place{false, Address{1024}}));
}

TEST(Place, ReadsBackAsItIsWritten)
{
    for (const Place& place : {Place{true, Address{0x90000000}}, Place{false, Address{0x2000}}})
        EXPECT_EQ(read(Json{{"input", Json(place_json(place))}}), place);
}

TEST(Place, WhatIsWrongIsRefusedByName)
{
    EXPECT_EQ(refusal([] { read({{"input", 100}}); }), "l.json: /placement/input: found 100, expected a multiple of 256");
    EXPECT_EQ(refusal([] {
                  read({{"input", 16}}, std::nullopt, {{0, 15}, 4});
              }),
              "l.json: /placement/input: found 16, expected a whole number in 0..15 (byte address at the DBB port)");
    EXPECT_EQ(refusal([] {
                  read({{"input", {{"memory", "cvsram"}, {"address", -256}}}});
              }),
              "l.json: /placement/input/address: found -256, expected a whole number in 0..4294967040 (byte address at the CVSRAM port)");
    EXPECT_EQ(refusal([] {
                  read({{"input", {{"memory", "sram"}, {"address", 0}}}});
              }),
              "l.json: /placement/input/memory: found \"sram\", expected one of: dbb, cvsram");
    EXPECT_EQ(refusal([] {
                  read({{"input", {{"memory", "dbb"}, {"adress", 0}}}});
              }),
              "l.json: /placement/input/adress: unknown key (did you mean \"address\"?)");
    EXPECT_EQ(refusal([] {
                  read({{"input", {{"memory", "dbb"}}}});
              }),
              "l.json: /placement/input/address: is missing, expected byte address at the DBB port");
    EXPECT_EQ(refusal([] { read(Json::object()); }),
              "l.json: /placement/input: is missing, expected a byte address, or an object {\"memory\", \"address\"}");
    EXPECT_EQ(refusal([] {
                  read({{"input", "here"}});
              }),
              "l.json: /placement/input: found \"here\", expected a whole number in 0..4294967040 (byte address at the DBB port)");
}

}  // namespace place_test
}  // namespace dlasim
