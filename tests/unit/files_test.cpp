// Files in and out: bounded reading, whole files or none, text fit for a terminal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/files/input.h"
#include "base/files/json_text.h"
#include "base/files/number.h"
#include "base/files/output.h"
#include "base/files/printable.h"
#include "base/files/spelling.h"
#include "refusal.h"

namespace dlasim::files_test {

bool g_all_have_names = false;

}  // namespace dlasim::files_test

extern "C" int __real_open(const char* path, int flags, ...);

/// A file system may have no files without names.
extern "C" int __wrap_open(const char* path, int flags, mode_t mode)
{
    if (!dlasim::files_test::g_all_have_names || (flags & O_TMPFILE) != O_TMPFILE) return __real_open(path, flags, mode);
    errno = EOPNOTSUPP;
    return -1;
}

namespace dlasim {
namespace files_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Files : public testing::Test {
protected:
    Files() : folder_(fs::path(testing::TempDir()) / ("dlasim_files." + std::to_string(::getpid()))) { fs::create_directories(folder_); }
    ~Files() override { fs::remove_all(folder_); }

    fs::path put(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return folder_ / name;
    }
    std::size_t entries() const
    {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

/// Parameter: whether the file system has files without names.
class Written : public Files, public testing::WithParamInterface<bool> {
protected:
    Written() { g_all_have_names = !GetParam(); }
    ~Written() override { g_all_have_names = false; }
    bool nameless() const
    {
        const int file = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
        if (file >= 0) ::close(file);
        return file >= 0;
    }
};

INSTANTIATE_TEST_SUITE_P(Files, Written, testing::Bool(), [](const auto& row) { return row.param ? "nameless" : "named"; });

TEST_F(Files, ATextIsReadUpToItsLimit)
{
    const std::string path = put("a", std::string(1000, 'x')).string();
    EXPECT_EQ(read_text(path, 1000).size(), 1000u);
    EXPECT_THAT(refusal([&] { read_text(path, 999); }), AllOf(HasSubstr(path), HasSubstr("longer than 999 bytes")));
    EXPECT_THAT(refusal([&] { read_text("/dev/zero", 100'000); }), HasSubstr("longer than 100000 bytes"));
    EXPECT_THAT(refusal([&] { read_text(folder_.string()); }), HasSubstr("is a folder"));
    EXPECT_THAT(refusal([&] { read_text((folder_ / "none").string()); }), HasSubstr("No such file"));
}

TEST_F(Files, LinesAreTheSameWhereverBlocksEnd)
{
    std::string text;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < 400; ++i) lines.push_back(std::string(i * 37 % 1000, static_cast<char>('a' + i % 26)));
    for (const std::string& line : lines) text += line + "\n";
    text += "no end";
    lines.push_back("no end");
    LineReader reader(put("lines", text), 1 << 20);
    std::string line;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        ASSERT_TRUE(reader.next(line));
        EXPECT_EQ(line, lines[i]);
        EXPECT_EQ(reader.number(), i + 1);
    }
    EXPECT_FALSE(reader.next(line));
    EXPECT_THAT(refusal([&] {
                    LineReader zero("/dev/zero", UINT64_MAX);
                    zero.next(line);
                }),
                HasSubstr("/dev/zero:1: is a line of more than 1 MiB"));
    EXPECT_THAT(refusal([&] { LineReader(folder_ / "lines", 100); }), HasSubstr("longer than 100 bytes"));
}

TEST_F(Files, JsonNestsAHundredDeepAndNoDeeper)
{
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + "\"[[{{\\\"[[\"" + std::string(depth, ']'); };
    EXPECT_NO_THROW(parse_json(nested(100), "f"));
    EXPECT_THAT(refusal([&] { parse_json(nested(101), "f"); }), HasSubstr("f: nests deeper than 100 at line 1, column 101"));
    EXPECT_THAT(refusal([&] { parse_json(std::string(1'000'000, '['), "f"); }), HasSubstr("nests deeper"));
    EXPECT_THAT(refusal([&] { parse_json(R"({"a": [{"b": 1, "b": 2}]})", "f"); }), HasSubstr("key \"b\" is given twice"));
    EXPECT_EQ(json_or_text("[1, 2]", "w").size(), 2u);
    EXPECT_EQ(json_or_text("text", "w"), "text");
    EXPECT_THAT(refusal([&] { json_or_text(nested(101), "w"); }), HasSubstr("w: nests deeper"));
}

TEST_F(Files, AnExcerptOfJsonHoldsWholeCharacters)
{
    for (std::size_t n = 40; n < 80; ++n) {
        const std::string text = json_excerpt(std::string(n, 'x') + "\u00e4\u00e4\u00e4");
        EXPECT_LE(text.size(), 60u);
        EXPECT_NO_THROW(nlohmann::json(text).dump());
    }
    EXPECT_EQ(json_excerpt(std::string("\xff")), "\"\xef\xbf\xbd\"");
}

TEST_P(Written, AFileAppearsWholeOrNotAtAll)
{
    const fs::path target = put("target", "old");
    {
        OutputFile file(target);
        file.write("new");
        file.stream() << " text " << 7;
        EXPECT_EQ(read_own_text(target.string()), "old");
        EXPECT_EQ(entries(), nameless() ? 1u : 2u);
        file.finish();
        EXPECT_EQ(read_own_text(target.string()), "old");
        EXPECT_EQ(entries(), nameless() ? 1u : 2u);
        file.commit();
    }
    EXPECT_EQ(read_own_text(target.string()), "new text 7");
    {
        OutputFile file(target, 1 << 18);
        file.write("lost");
    }
    EXPECT_EQ(read_own_text(target.string()), "new text 7");
    OutputFile(target, 1 << 18).commit("short");
    EXPECT_EQ(fs::file_size(target), 5u);
    {
        OutputFile first(target);
        EXPECT_THROW(OutputFile(folder_ / "." / "target"), ConfigError);  // one of the two would be lost
        first.commit("first");
    }
    EXPECT_EQ(read_own_text(target.string()), "first");
    OutputFile(target).commit("second");
    EXPECT_EQ(read_own_text(target.string()), "second");
    EXPECT_EQ(entries(), 1u);
}

TEST_P(Written, AFileKeepsItsModeAndALinkItsTarget)
{
    const fs::path target = put("target", "old");
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("target", folder_ / "link");
    OutputFile(folder_ / "link").commit("new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_own_text(target.string()), "new");
    EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, WhatIsNoRegularFileIsWrittenThrough)
{
    OutputFile null("/dev/null", 1 << 18);
    EXPECT_FALSE(null.regular());
    null.commit("text");
    EXPECT_THAT(refusal([&] { OutputFile("/dev/full").commit("text"); }), AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
    const fs::path fifo = folder_ / "fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
    OutputFile(fifo).commit("through");
    char text[16] = {};
    EXPECT_EQ(::read(reader, text, sizeof text), 7);
    EXPECT_STREQ(text, "through");
    ::close(reader);
    EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_P(Written, PlacesThatCannotBeWrittenAreRefusedAtOnce)
{
    put("file", "");
    EXPECT_THAT(refusal([&] { OutputFile(folder_ / "none" / "x"); }), HasSubstr("none/x: cannot be written (No such file"));
    EXPECT_THAT(refusal([&] { OutputFile{folder_}; }), HasSubstr("Is a directory"));
    EXPECT_THAT(refusal([&] { OutputFile(folder_ / "file" / "x"); }), HasSubstr("Not a directory"));
    EXPECT_THAT(refusal([&] { OutputFile(""); }), HasSubstr("empty name"));
    EXPECT_THAT(refusal([&] { make_folder(folder_ / "file" / "x"); }), HasSubstr("is no folder and cannot become one (Not a directory)"));
}

TEST_P(Written, AFileThatMayNotGrowIsAnErrorAndLeavesTheOldOne)
{
    const fs::path target = put("target", "old");
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before = {};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {100'000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string written = refusal([&] { OutputFile(target).commit(std::string(200'000, 'x')); });
    const std::string streamed = refusal([&] {
        OutputFile file(target);
        for (int i = 0; i < 200'000; ++i) file.stream() << 'x';
        file.commit();
    });
    const std::string claimed = refusal([&] { OutputFile(target, 200'000); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(written, HasSubstr("target: cannot be written (File too large)"));
    EXPECT_THAT(streamed, HasSubstr("target: cannot be written (File too large)"));
    EXPECT_THAT(claimed, HasSubstr("target: has no free space (File too large)"));
    EXPECT_EQ(read_own_text(target.string()), "old");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, WhatIsReadIsNotWritten)
{
    const fs::path in = put("in", "text");
    fs::create_directory(folder_ / "sub");
    fs::create_symlink(folder_, folder_ / "way");
    fs::create_symlink("sub/../in", folder_ / "link");
    fs::create_symlink("link", folder_ / "again");
    fs::create_hard_link(in, folder_ / "sub" / "hard");
    fs::create_symlink("../later", folder_ / "sub" / "dangling");
    EXPECT_EQ(read_text(in.string()), "text");
    claim_input(folder_ / "later");
    for (const char* name :
         {"in", "sub/../in", "way/in", "link", "again", "sub/hard", "way/way/link", "later", "sub/dangling", "way/later"}) {
        EXPECT_THAT(refusal([&] { OutputFile(folder_ / name); }), HasSubstr("is an input of this command")) << name;
        EXPECT_TRUE(is_input(folder_ / name)) << name;
    }
    EXPECT_THAT(refusal([&] { remove_file(in); }), HasSubstr("is an input of this command"));
    EXPECT_EQ(read_text(in.string()), "text");
    OutputFile(folder_ / "other").commit("");
    EXPECT_EQ(read_own_text((folder_ / "other").string()), "");
    OutputFile(folder_ / "other").commit("");  // its own it may write again
}

TEST_F(Files, WhatIsWrittenIsNotRead)
{
    const fs::path file = put("both", "old");
    {
        OutputFile out(file);
        EXPECT_THAT(refusal([&] { read_text(file.string()); }), HasSubstr("both: would be written, and is an input of this command"));
        EXPECT_THAT(refusal([&] { LineReader(file, 100); }), HasSubstr("is an input of this command"));
    }
    EXPECT_EQ(read_text(file.string()), "old");
}

TEST_F(Files, AFolderIsClaimedWithAllBelowIt)
{
    fs::create_directories(folder_ / "out" / "deep");
    fs::create_directories(folder_ / "in" / "deep");
    fs::create_symlink(folder_ / "out", folder_ / "way");
    const OutputClaim claim(folder_ / "out", OutputClaim::Extent::Folder);
    EXPECT_THAT(refusal([&] { claim_input(folder_ / "way" / "deep" / "x"); }), HasSubstr("out: would be written"));
    OutputFile(folder_ / "out" / "file").commit("");
    claim_input_folder(folder_ / "in");
    EXPECT_THAT(refusal([&] { OutputFile(folder_ / "in" / "deep" / "x"); }), HasSubstr("is an input of this command"));
    EXPECT_THAT(refusal([&] { OutputClaim(folder_ / "in" / "deep", OutputClaim::Extent::Folder); }), HasSubstr("is an input"));
    EXPECT_FALSE(is_input(folder_ / "other"));
    // A link in a folder that will be written leads to an input.
    claim_input(put("golden", ""));
    fs::create_directory(folder_ / "linked");
    fs::create_symlink(folder_ / "golden", folder_ / "linked" / "a.npy");
    EXPECT_THAT(refusal([&] { OutputClaim(folder_ / "linked", OutputClaim::Extent::Folder); }),
                HasSubstr("linked/a.npy: would be written"));
}

TEST_F(Files, DevicesAreReadAndWritten)
{
    claim_input("/dev/null");
    OutputFile("/dev/null").commit("");
    EXPECT_FALSE(is_input("/dev/null"));
}

TEST_F(Files, LeftoversOfKilledWritersAreRemovedAndNothingElse)
{
    for (const char* name : {".result.json.123", ".result.json.9.2", ".result.json.12x", "result.json", ".other.json.5", ".result.json"})
        put(name, "");
    remove_leftovers(folder_, "result.json");
    EXPECT_EQ(entries(), 4u);
    EXPECT_FALSE(fs::exists(folder_ / ".result.json.123"));
}

TEST(Printable, ControlCharactersBecomeEscapes)
{
    EXPECT_EQ(printable("a\x1b[2Jb\nc\td\x7f"), "a\\x1b[2Jb\\nc\\td\\x7f");
    EXPECT_EQ(printable("a\nb\r", true), "a\nb\\x0d");
    EXPECT_EQ(printable("\u00e4\u20ac\u009b"), "\u00e4\u20ac\\x9b");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

/// Marks that turn the direction of a line, ends of lines and tags are not seen; letters of all languages are.
TEST(Printable, CharactersThatAreNotSeenAreEscaped)
{
    EXPECT_EQ(printable("evil\u202egnp.exe"), "evil\\u202egnp.exe");
    for (const char* unseen :
         {"\u061c", "\u200b", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u2066", "\u2069", "\ufeff", "\U000e0041"})
        EXPECT_TRUE(printable(unseen).starts_with("\\u")) << unseen;
    for (const char* seen : {"\u05d0\u05d1", "\u0628", "\u65e5\u672c", "\u2026", "\U0001f600"}) EXPECT_EQ(printable(seen), seen);
}

TEST(Printable, BytesThatAreNoTextAreEscaped)
{
    EXPECT_EQ(printable("a\xff\xfe"), "a\\xff\\xfe");
    EXPECT_EQ(printable("\xc3"), "\\xc3");
    EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // an ESC in more bytes than it takes
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
    EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
}

TEST(Cells, HoldNoControlsAndNoMarksOfDirection)
{
    EXPECT_EQ(cell_text("a\x1b[2Jb\u202ec"), "a\\x1b[2Jb\\u202ec");
    EXPECT_EQ(cell_text("a\nb,\"c\""), "\"a b,\"\"c\"\"\"");
    EXPECT_EQ(cell_text(17), "17");
}

TEST(Messages, AreAsLongAsAPersonReads)
{
    const std::string cut = shortened("begin " + std::string(50'000'000, 'x') + " end");
    EXPECT_LT(cut.size(), 20'000u);
    EXPECT_TRUE(cut.starts_with("begin x") && cut.ends_with("x end")) << cut.substr(0, 20);
    std::string letters;
    while (letters.size() < 30'000) letters += "\u65e5\u672c!";
    EXPECT_EQ(printable(shortened(letters)), shortened(letters)) << "a character is cut";
    EXPECT_EQ(shortened("short"), "short");
}

TEST(Suggestions, NameWhatWasMeant)
{
    const std::vector<std::string> known{"nv_large", "nv_small", "run"};
    EXPECT_EQ(meant("NV_LARGE", known), "nv_large");
    EXPECT_EQ(meant("Run", known), "run");
    EXPECT_EQ(meant("nv_smal", known), "nv_small");
    EXPECT_EQ(meant("explain", known), "");
    EXPECT_EQ(meant("ab", {"cd"}), "") << "two letters apart is another word";
    EXPECT_EQ(meant(std::string(50'000'000, 'x'), known), "");
    EXPECT_EQ(suggest("explain", known), " (known: nv_large, nv_small, run)");
}

TEST(WholeNumber, DigitsInARangeAndNothingElse)
{
    EXPECT_EQ(whole_number("18446744073709551615"), UINT64_MAX);
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "1.0", "0x10", "18446744073709551616", "1e3"})
        EXPECT_FALSE(whole_number(text)) << text;
    EXPECT_EQ(whole_number("0x10", 0, 16, true), 16u);
    EXPECT_FALSE(whole_number("0x11", 0, 16, true));
    EXPECT_FALSE(whole_number("0x", 0, 16, true));
    EXPECT_FALSE(whole_number("3", 4, 9));
}

}  // namespace files_test
}  // namespace dlasim
