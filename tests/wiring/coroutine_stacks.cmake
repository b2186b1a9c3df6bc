dlasim_test(coroutine_stacks_test.cpp quick USES PkgConfig::systemc)
