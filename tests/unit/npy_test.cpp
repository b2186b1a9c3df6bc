// NumPy files: the format of numpy.lib.format, versions 1 to 3.
#include "config/npy.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "refusal.h"

namespace dlasim {
namespace npy_test {

using testing::ElementsAre;
using testing::HasSubstr;

class Npy : public testing::Test {
protected:
    std::string write(const std::string& bytes)
    {
        std::ofstream(path_, std::ios::binary) << bytes;
        return path_;
    }
    std::string refused(const std::string& bytes, const std::vector<std::string>& types = {"|i1"},
                        const std::vector<std::uint64_t>& shape = {3})
    {
        write(bytes);
        return refusal([&] { read_npy(path_, types, shape, "/data/input"); });
    }
    void TearDown() override { std::filesystem::remove(path_); }
    std::string path_ = testing::TempDir() + "dlasim_npy_test." + std::to_string(::getpid()) + ".npy";
};

/// As numpy.save writes int8 [1, -2, 3].
std::string int8_file()
{
    const std::string text = "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }";
    std::string header = text + std::string(118 - text.size() - 1, ' ') + "\n";
    return std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header + "\x01\xfe\x03";
}

TEST_F(Npy, ValuesOfEveryTypeAreRead)
{
    EXPECT_THAT(read_npy(write(int8_file()), {"|i1"}, {3}, "x"), ElementsAre(1, -2, 3));
    EXPECT_THAT(read_npy(write(npy_bytes("<i2", {2, 1}, {-32768, 5})), {"<i2"}, {2, 1}, "x"), ElementsAre(-32768, 5));
    EXPECT_THAT(read_npy(write(npy_bytes("<i4", {1}, {-70000})), {"<i4"}, {1}, "x"), ElementsAre(-70000));
    EXPECT_THAT(read_npy(write(npy_bytes("<f2", {1}, {0xbc00})), {"<f2"}, {1}, "x"), ElementsAre(0xbc00));
    EXPECT_THAT(read_npy(write(npy_bytes("|u1", {1}, {200})), {"|u1"}, {1}, "x"), ElementsAre(200));
}

TEST_F(Npy, WrongTypeShapeAndOrderAreRefused)
{
    EXPECT_THAT(refused(npy_bytes("<f4", {3}, {1, 2, 3})), HasSubstr("found dtype \"<f4\", expected \"|i1\""));
    EXPECT_THAT(refused(npy_bytes("|i1", {4}, {1, 2, 3, 4})), HasSubstr("found shape (4), expected (3)"));
    EXPECT_THAT(refused(npy_bytes("|i1", {3, 1}, {1, 2, 3})), HasSubstr("found shape (3, 1), expected (3)"));
    std::string fortran = int8_file();
    fortran.replace(fortran.find("False"), 5, "True ");
    EXPECT_THAT(refused(fortran), HasSubstr("found Fortran order"));
}

/// A file with this header in front of three bytes.
std::string with_header(const std::string& text)
{
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + "\x01\xfe\x03";
}

TEST_F(Npy, AHeaderIsADictionaryOfThreeEntries)
{
    for (const char* header :
         {"{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", "{\"shape\":(3L,),'fortran_order':False,'descr':\"<i1\"}\n",
          "{ 'shape' : ( 3 , ) , 'descr' : '|i1' , 'fortran_order' : False }   "})
        EXPECT_THAT(read_npy(write(with_header(header)), {"|i1"}, {3}, "x"), ElementsAre(1, -2, 3)) << header;
}

TEST_F(Npy, HeadersThatAreNoneAreRefused)
{
    const std::pair<const char*, const char*> wrong[] = {
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (-3,), }", "expected a size in the shape"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (3, -1), }", "expected a size in the shape"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (1.5,), }", "expected \")\""},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (99999999999999,), }", "expected a size in the shape"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (3,), 'shape': (3,), }", "has 'shape' twice"},
        {"{'descr': '<f4', 'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", "has 'descr' twice"},
        {"{'descr': '|i1', 'fortran_order': True, 'fortran_order': False, 'shape': (3,)}", "has 'fortran_order' twice"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (3,), 'more': 1}", "has 'more'"},
        {"{'descr': '|i1', 'fortran_order': Falsehood, 'shape': (3,)}", "expected \"}\""},
        {"{'descr': '|i1', 'fortran_order': 0, 'shape': (3,)}", "expected True or False"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (3,)} x", "expected nothing after its dictionary"},
        {"{'descr': [('a', '|i1')], 'fortran_order': False, 'shape': (3,)}", "found records"},
        {"{'descr': '|i1', 'shape': (3,)}", "has no 'fortran_order'"},
        {"{'note': \"'descr': '|i1', 'fortran_order': False, 'shape': (3,)\"}", "has 'note'"}};
    for (const auto& [header, says] : wrong) EXPECT_THAT(refused(with_header(header)), HasSubstr(says)) << header;
}

TEST_F(Npy, TruncatedAndForeignFilesAreRefused)
{
    const std::string good = int8_file();
    for (std::size_t length = 0; length < good.size(); ++length)
        EXPECT_THAT(refused(good.substr(0, length)), HasSubstr("expected")) << length;
    EXPECT_THAT(refused(good.substr(0, good.size() - 1)), HasSubstr("found 2 bytes of data, expected 3"));
    EXPECT_THAT(refused(good + "x"), HasSubstr("found 4 bytes of data"));
    EXPECT_THAT(refused("PK\x03\x04 something else"), HasSubstr("no .npy file"));
    EXPECT_THAT(refusal([] { read_npy("none.npy", {"|i1"}, {3}, "/data/input"); }), HasSubstr("/data/input: none.npy: cannot be opened"));
}

}  // namespace npy_test
}  // namespace dlasim
