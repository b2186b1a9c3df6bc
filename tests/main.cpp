// The main function of a program of tests, with what SystemC's library asks of every program.
#include <gmock/gmock.h>

extern "C" int sc_main(int, char*[]) { return 0; }

int main(int argc, char** argv)
{
    testing::InitGoogleMock(&argc, argv);
    return RUN_ALL_TESTS();
}
